/**
 * A server on loopback that speaks OpenAI's `/v1/audio/transcriptions`, as OpenAI declares it. What it says,
 * a recognizer of this project heard in the audio that came. A script may answer in its place.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { serve } from '../serve.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DecodedAudio, Recognizer, Transcript } from '../../../src/recognizers/recognizer.ts';

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** The form without its file; a field that was sent twice is there twice. */
  fields: Record<string, string[]>;
  file: { name: string; type: string; bytes: Buffer } | undefined;
}

/** What a script does: a status with a body (text as it is, anything else as JSON), or something worse. */
export type Reply =
  | { status: number; headers?: Record<string, string>; body: unknown }
  | 'cut the connection'
  | 'cut the answer'
  | 'never answer'
  | 'hardly end';

export interface SpeechServerOptions {
  /** What hears; without it, only a script answers. */
  recognizer?: Recognizer;
  /** What it answers instead; undefined leaves it to the recognizer. */
  script?: (request: Received, earlier: number) => Reply | undefined | Promise<Reply | undefined>;
  /** Any that is free without it. */
  port?: number;
}

export interface RunningSpeechServer {
  /** For `OPENAI_BASE_URL`. */
  url: string;
  /** Uploads, in the order in which they came. */
  requests: Received[];
  /** How many of them have no answer yet, and how many there were at most. */
  open(): number;
  peak(): number;
  close(): Promise<void>;
}

export async function startSpeechServer(options: SpeechServerOptions): Promise<RunningSpeechServer> {
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'speech-'));
  const requests: Received[] = [];
  let [open, peak] = [0, 0];

  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const received = await receive(req);
    const isUpload = received.path === '/v1/audio/transcriptions';
    const earlier = requests.length;
    if (isUpload) requests.push(received);
    await send((await options.script?.(received, earlier)) ?? (await answer(received, earlier)), res);
  }

  async function answer({ path, fields, file }: Received, index: number): Promise<Reply> {
    if (path !== '/v1/audio/transcriptions') return refusal(404, 'Not Found');
    const format = fields['response_format']?.[0] ?? 'json';
    if (file === undefined || !file.name.endsWith('.wav')) return refusal(400, 'Invalid file format.', 'file');
    const audio = await decoded(join(folder, `${index}-${file.name}`), file.bytes);
    const heard = await options.recognizer!.recognize(audio, { signal: new AbortController().signal });
    return { status: 200, body: bodyOf(format, heard, audio.durationMs) };
  }

  const server = await serve((req, res) => {
    open += 1;
    peak = Math.max(peak, open);
    res.once('close', () => (open -= 1));
    respond(req, res).catch(() => res.destroy());
  }, options.port);
  return {
    url: `${server.url}/v1`,
    requests,
    open: () => open,
    peak: () => peak,
    async close() {
      await server.close();
      await options.recognizer?.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function decoded(input: string, bytes: Buffer): Promise<DecodedAudio> {
  await writeFile(input, bytes);
  const file = `${input}.s16le`;
  return { file, ...(await decodeAudio({ input, output: file, maxDurationMs: 3_600_000, timeLimitMs: 60_000 })) };
}

async function receive(req: IncomingMessage): Promise<Received> {
  const { method = '', url: path = '', headers } = req;
  const bytes = await buffer(req);
  const received: Received = { method, path, headers, fields: {}, file: undefined };
  if (bytes.length === 0) return received;
  const type = headers['content-type'] ?? '';
  for (const [name, value] of await new Response(bytes, { headers: { 'content-type': type } }).formData()) {
    if (typeof value === 'string') (received.fields[name] ??= []).push(value);
    else received.file = { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
  }
  return received;
}

async function send(reply: Reply, res: ServerResponse): Promise<void> {
  if (reply === 'never answer') return;
  if (reply === 'cut the connection') return void res.destroy();
  if (reply === 'cut the answer') {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    return void res.write('{"text": "half of', () => res.destroy());
  }
  if (reply === 'hardly end') {
    res.writeHead(200, { 'content-type': 'application/json' });
    // Of 256 MiB, so that a test without end has one where nobody else makes it.
    const more = Buffer.alloc(1024 * 1024, ' ');
    for (let sent = 0; sent < 256 && !res.destroyed; sent += 1) {
      if (!res.write(more)) await Promise.race([once(res, 'drain'), once(res, 'close')]);
    }
    return void res.end();
  }
  const { status, headers = {}, body } = reply;
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  res.writeHead(status, { 'content-type': type, ...headers });
  res.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** An error as OpenAI sends it. */
export function refusal(status: number, message: string, param?: string, code?: string): Reply {
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

function bodyOf(format: string, heard: Transcript, durationMs: number) {
  // A sentence as a model would write it; OpenAI's words have no punctuation.
  const sentences = heard.segments.map(({ text }) => ` ${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
  const text = sentences.join('').trim();
  if (format === 'json') return { text };
  const segments = heard.segments.map(({ startMs, endMs }, id) => ({
    ...{ id, seek: 0, start: startMs / 1000, end: endMs / 1000, text: sentences[id], tokens: [id], temperature: 0 },
    ...{ avg_logprob: -0.25, compression_ratio: 1.5, no_speech_prob: 0.01 },
  }));
  const words = heard.segments.flatMap((segment, id) =>
    segment.words.map((word, index) => ({
      word: index === 0 ? sentences[id]!.trim().split(/[ .]/)[0] : word.text,
      ...{ start: word.startMs / 1000, end: word.endMs / 1000 },
    })),
  );
  return { task: 'transcribe', language: 'english', duration: durationMs / 1000, text, segments, words };
}
