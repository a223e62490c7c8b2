/** A server on loopback that hears with a recognizer of this project, or answers by a script; and what is sent to it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSlots } from '../../../../src/recognizers/in-chunks.ts';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { createSherpaOnnx } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { startSpeechServer } from '../../../support/models/speech-server.ts';
import { makeTinySenseVoice } from '../../../support/models/tiny/sense-voice.ts';
import { expectWellFormed, recognizerConformance, toneSpeech } from '../conformance/conformance.ts';
import { makeRecordings } from '../conformance/recordings.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { fine, inTurn, signal, useAsking } from './asking.ts';
import type { Tone } from '../../../support/models/tiny/spoken-tones.ts';

const folder = useFolder();
const listener = createSherpaOnnx({ folder: await makeTinySenseVoice(join(folder, 'model')), slots: createSlots(1) });
const hearsTones = await startSpeechServer({ recognizer: listener });
afterAll(() => hearsTones.close());
const askingFor = (apiKey?: string) =>
  createOpenAi({ server: { baseUrl: hearsTones.url, apiKey, model: 'whisper-1' }, mostRequests: 4 });
// test/src/worker/openai.test.ts sends a voice.
recognizerConformance('openai', () => askingFor(), await toneSpeech(folder), 28_000);
const recordings = makeRecordings();

test('a recording of several chunks → sent in parallel; no word lost or doubled, each where it was said', async () => {
  const tones = Array.from({ length: 120 }, (_, index): Tone => (index % 3 === 0 ? 'low' : 'high'));
  const audio = await recordings.ofTones(tones);
  const before = hearsTones.requests.length;
  const recognizer = askingFor('sk-of-a-test');
  const transcript = await recognizer.recognize(audio, { signal });
  await recognizer.close();
  expectWellFormed(transcript, audio.durationMs);
  expect(transcript.language).toBe('en');
  const words = transcript.segments.flatMap((segment) => segment.words);
  expect(words.map(({ text }) => text.toLowerCase().replace('.', ''))).toEqual(tones);
  words.forEach(({ startMs }, index) => expect(Math.abs(startMs - (index * 1000 + 300))).toBeLessThanOrEqual(120));
  // As the text has them; the server's words have neither.
  expect(transcript.segments.map(({ text }) => text).join(' ')).toMatch(/^Low high[a-z ]*\. [LH][a-z ]+\. /);

  const requests = hearsTones.requests.slice(before);
  expect(requests.length).toBeGreaterThanOrEqual(3);
  expect(hearsTones.peak()).toBeGreaterThan(1);
  expect(hearsTones.peak()).toBeLessThanOrEqual(4);
  for (const { method, path, headers, fields, file } of requests) {
    expect({ method, path }).toEqual({ method: 'POST', path: '/v1/audio/transcriptions' });
    expect(headers.authorization).toBe('Bearer sk-of-a-test');
    expect(fields).toEqual({
      model: ['whisper-1'],
      response_format: ['verbose_json'],
      'timestamp_granularities[]': ['word', 'segment'],
    });
    expect(file).toMatchObject({ name: 'audio.wav', type: 'audio/wav' });
  }
});

const { ask } = useAsking();

test('50 ms → sent with silence up to more than a second, which whisper.cpp asks for; words within the 50 ms', async () => {
  const words = [{ word: 'Oh', start: 0.02, end: 0.9 }];
  const { server, hear } = await ask(() => ({ status: 200, body: { text: 'Oh.', words } }));
  const transcript = await hear(0.05);
  expect(server.requests[0]!.file!.bytes.length).toBe(44 + 1100 * 32);
  expect(transcript.segments).toMatchObject([{ text: 'Oh.', startMs: 20, endMs: 50 }]);
});

test('no sound at all → nothing is sent; a file that has become shorter → an error, not a shorter transcript', async () => {
  const { server, recognizer } = await ask(inTurn(fine));
  const file = join(folder, 'nothing');
  const hear = (durationMs: number) => recognizer.recognize({ file, durationMs, silences: [] }, { signal });
  // -64 dB.
  await writeFile(file, new Uint8Array(new Int16Array(16 * 3000).fill(-20).buffer));
  expect(await hear(3000)).toEqual({ segments: [] });
  await expect(hear(3001)).rejects.toMatchObject({ message: `${file} ends too early`, retryable: true });
  expect(server.requests).toHaveLength(0);
});

test('nothing about this machine is sent', async () => {
  const { server, hear } = await ask(inTurn(fine), { apiKey: undefined });
  await hear();
  const { host: _host, 'content-type': _type, 'content-length': _length, ...headers } = server.requests[0]!.headers;
  expect(headers).toEqual({
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate',
    'accept-language': '*',
    authorization: 'Bearer none',
    connection: 'keep-alive',
    'sec-fetch-mode': 'cors',
    'user-agent': 'undici',
  });
});
