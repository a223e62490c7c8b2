/** Servers for RECOGNIZER=openai that hear nothing. Each takes its time, and says a word for each half second. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Setting } from './bench.ts';

/** Times are counted in pieces: a piece is as long as the server takes for one alone. */
export interface Kind {
  /** How long a piece takes. Where many are heard at once it is long, so that the bench's own machine keeps up. */
  ms: number;
  /** How many it works on at once. */
  atOnce: (pieces: number) => number;
  /** How quickly it works on each, as a part of its best. */
  pace?: (inFlight: number) => number;
  /** What is beyond gets 429. */
  mayTake?: (pieces: number) => number;
}

export interface Asked {
  beganAt: number;
  /** Undefined until it was answered. */
  endedAt?: number;
  audioMs: number;
}

export interface SpeechServer {
  /** For `OPENAI_BASE_URL`. */
  readonly url: string;
  readonly kind: Kind;
  /** All that it took, in order. */
  readonly asked: readonly Asked[];
  readonly refused: () => number;
  /** How many pieces' time it has run, by its own clock, which begins with its first request. */
  pieces(): number;
  /** What it answered from one time to another, as a part of what it could. */
  share(fromPieces: number, toPieces: number): number;
  meanInFlight(fromPieces: number, toPieces: number): number;
}

const tickMs = 10;

export async function startSpeechServer(setting: Setting, kind: Kind): Promise<SpeechServer> {
  const asked: Asked[] = [];
  let open: { own: Asked; leftMs: number; answer: () => void }[] = [];
  let refused = 0;
  let beganAt: number | undefined;
  const piecesAt = (at: number) => (beganAt === undefined ? 0 : (at - beganAt) / kind.ms);
  const pieces = () => piecesAt(performance.now());

  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const passedMs = (now - before) * (kind.pace?.(open.length) ?? 1);
    before = now;
    for (const each of open.slice(0, kind.atOnce(pieces()))) each.leftMs -= passedMs;
    const done = open.filter(({ leftMs }) => leftMs <= 0);
    open = open.filter(({ leftMs }) => leftMs > 0);
    for (const { own, answer } of done) {
      own.endedAt = now;
      answer();
    }
  }, tickMs);

  const server = createServer((req, res) => void serve(req, res).catch(() => res.destroy()));
  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let bytes = 0;
    for await (const chunk of req) bytes += (chunk as Buffer).length;
    if (!req.url!.endsWith('/transcriptions')) return reply(res, 404, { error: { message: 'none' } });
    beganAt ??= performance.now();
    if (open.length >= (kind.mayTake?.(pieces()) ?? Infinity)) {
      refused += 1;
      return reply(res, 429, { error: { message: 'no room' } });
    }
    const own: Asked = { beganAt: performance.now(), audioMs: Math.floor(bytes / 32) };
    asked.push(own);
    const waiting = { own, leftMs: kind.ms, answer: () => reply(res, 200, said(own.audioMs)) };
    open.push(waiting);
    res.once('close', () => (open = open.filter((each) => each !== waiting)));
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  setting.atEnd(async () => {
    clearInterval(timer);
    server.close();
    server.closeAllConnections();
  });

  const timeOf = (count: number) => beganAt! + count * kind.ms;
  return {
    ...{ kind, asked, pieces, refused: () => refused },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    share(from, to) {
      const answered = asked.filter(({ endedAt = 0 }) => endedAt >= timeOf(from) && endedAt < timeOf(to)).length;
      let possible = 0;
      for (let at = from; at < to; at += 0.1) possible += kind.atOnce(at) * Math.min(0.1, to - at);
      return answered / possible;
    },
    meanInFlight(from, to) {
      const within = ({ beganAt, endedAt = Infinity }: Asked) =>
        Math.max(0, Math.min(endedAt, timeOf(to)) - Math.max(beganAt, timeOf(from)));
      return asked.reduce((sum, each) => sum + within(each), 0) / (timeOf(to) - timeOf(from));
    },
  };
}

function reply(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Always another word: the same ones again and again would be heard once more. */
function said(audioMs: number) {
  const words = Array.from({ length: Math.ceil(audioMs / 500) }, (_, index) => ({
    word: `w${index.toString(36)}`,
    ...{ start: index / 2, end: Math.min(audioMs / 1000, (index + 1) / 2) },
  }));
  return { text: words.map(({ word }) => word).join(' '), words };
}

export async function until({ signal }: Setting, isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(20, undefined, { signal });
}
