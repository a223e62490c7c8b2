/** How much of a speech server is used, by servers of several kinds, and who waits for whom. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { seedAccounts, settle, startDatabase } from './database.ts';
import { watchMemory } from './process-tree.ts';
import { serviceEnv, startProgram } from './program.ts';
import { makeSpeech, send, untilAnswered } from './session-client.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Check, Findings, Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const servers: Bench = {
  name: 'servers',
  summary: 'RECOGNIZER=openai with servers that hear many, few or one at once: what they do of what they could',
  run,
};

const flatTo64: Kind = { ms: 8_000, atOnce: () => 64 };
const serial: Kind = { ms: 1_000, atOnce: () => 1 };
const worseBeyond16 = (inFlight: number) => Math.min(1, (16 / inFlight) ** 2);

/** Each with the time from which on it counts, and until when, in chunks. */
const kinds: [string, Kind, number, number][] = [
  ['64 at once', flatTo64, 15, 30],
  ['8 at once', { ms: 1_500, atOnce: () => 8 }, 15, 45],
  ['16 at once, worse beyond', { ms: 3_000, atOnce: () => 16, pace: worseBeyond16 }, 15, 30],
  // From half a minute after it got more.
  ['4, 32 and again 4 at once', { ms: 4_000, atOnce: (at) => (at >= 15 && at < 55 ? 32 : 4) }, 25, 75],
  // From its second minute on: until then it is found out.
  ['one at a time', serial, 60, 180],
];

interface Place {
  setting: Setting;
  database: BenchDatabase;
  accounts: BenchAccount[];
  audio: Blob;
  /** By how much everything is shorter than in full size. */
  shorter: number;
}

async function run(setting: Setting): Promise<Findings> {
  setting.say('Starting PostgreSQL …');
  const database = await startDatabase(setting);
  const accounts = await seedAccounts(database, 8);
  await settle(database);
  const shorter = setting.sized({ full: 1, quick: 8, tiny: 160 });
  const place = { setting, database, accounts, audio: await makeSpeech(setting), shorter };

  const checks: Check[] = [];
  for (const [name, kind, from, to] of kinds) checks.push(...(await measureShare(place, name, kind, from, to)));
  checks.push(...(await measureStorm(place)), await measureBurst(place));
  checks.push(await measureBesideLong(place));
  const sizes = { 'ms of a chunk': kinds.map(([, { ms }]) => ms / shorter).join(', '), 'short recordings of s': 1.5 };
  return { sizes, checks, raw: checks };
}

/** A service that has heard nothing yet, in one process, and its server. */
async function begin({ setting, database, shorter }: Place, kind: Kind) {
  const server = await startSpeechServer(setting, { ...kind, ms: kind.ms / shorter });
  const env = { ...serviceEnv(setting, database.url), RECOGNIZER: 'openai', OPENAI_BASE_URL: server.url };
  const service = await startProgram(setting, { script: 'src/start.ts', env });
  const end = async () => {
    await service.stop();
    await database.query('truncate sessions cascade; delete from pgboss.job; update accounts set reserved_ms = 0');
  };
  return { server, service, end };
}

/** Keeps more recordings waiting than the server takes, until so many chunks' time has passed. */
async function load(
  { setting, accounts, audio }: Place,
  url: string,
  clients: number,
  server: SpeechServer,
  to: number,
) {
  const ended = new AbortController();
  const signal = AbortSignal.any([setting.signal, ended.signal]);
  const clientOf = async (index: number) => {
    const client = { url, key: accounts[index % accounts.length]!.key, audio, signal };
    while (!signal.aborted) await untilAnswered(client, (await send(client)).id);
  };
  const all = Promise.all(Array.from({ length: clients }, (_, index) => clientOf(index)));
  const over = until(setting, () => server.chunks() >= to);
  await Promise.race([all, over]);
  ended.abort();
  await all.catch((error: unknown) => {
    if (!ended.signal.aborted) throw error;
  });
  setting.signal.throwIfAborted();
}

async function measureShare(place: Place, work: string, kind: Kind, from: number, to: number): Promise<Check[]> {
  place.setting.say(`Measuring: ${work} …`);
  const { server, service, end } = await begin(place, kind);
  const memory = watchMemory(service.pid);
  const most = Math.max(kind.atOnce(0), kind.atOnce(from));
  await load(place, service.url, 2 * most + 8, server, to);
  const megabytes = memory.stop().own / 1e6;
  await end();
  const share = { work, measure: 'part of the possible', values: [server.share(from, to)], goal: { atLeast: 0.9 } };
  const inFlight = { work, measure: 'requests in flight', values: [server.meanInFlight(from, to)] };
  if (most === 1) return [share, { ...inFlight, goal: { atMost: 2 } }];
  if (most < 64) return [share, inFlight];
  const mostMemory = {
    work,
    measure: 'memory, API and worker',
    values: [megabytes],
    unit: 'MB',
    goal: { atMost: 400 },
  };
  return [share, inFlight, mostMemory];
}

/** Room for two only, for ten chunks' time. No recording may fail. */
async function measureStorm(place: Place): Promise<Check[]> {
  const [from, to] = [10, 20];
  const work = '16 at once, 429 beyond two for a while';
  place.setting.say(`Measuring: ${work} …`);
  const mayTake = (at: number) => (at >= from && at < to ? 2 : Infinity);
  const { server, service, end } = await begin(place, { ms: 3_000, atOnce: () => 16, mayTake });
  await load(place, service.url, 40, server, 2 * to);
  await end();
  return [
    {
      work,
      measure: 'part of the possible afterwards',
      values: [server.share(1.5 * to, 2 * to)],
      goal: { atLeast: 0.9 },
    },
    { work, measure: 'refusals', values: [server.refused()] },
  ];
}

async function measureBurst(place: Place): Promise<Check> {
  const count = place.setting.sized({ full: 128, quick: 128, tiny: 4 });
  const work = `${count} short uploads of four accounts, 64 at once`;
  place.setting.say(`Measuring: ${work} …`);
  const { server, service, end } = await begin(place, flatTo64);
  const began = performance.now();
  const one = async (index: number) => {
    const client = { url: service.url, key: place.accounts[index % 4]!.key, audio: place.audio };
    return untilAnswered({ ...client, signal: place.setting.signal }, (await send(client)).id);
  };
  const answeredAt = await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  await end();
  const ownMs = Math.ceil(count / 64) * server.kind.ms;
  const values = [(Math.max(...answeredAt) - began) / ownMs];
  return { work, measure: "÷ the server's own time", values, goal: { atMost: 2.5 } };
}

/** How many chunks of a long recording begin while a short one of another account waits. */
async function measureBesideLong(place: Place): Promise<Check> {
  const { setting, accounts } = place;
  const minutes = setting.sized({ full: 60, quick: 20, tiny: 6 });
  const work = `a short one beside ${minutes} minutes, one at a time`;
  setting.say(`Measuring: ${work} …`);
  const ms = setting.sized({ full: 2_000, quick: 2_000, tiny: 200 }) * place.shorter;
  const { server, service, end } = await begin(place, { ...serial, ms });
  const [long, short] = accounts as [BenchAccount, BenchAccount];
  await send({ url: service.url, key: long.key, audio: await makeLong(setting, minutes) });
  await until(setting, () => server.asked.length >= 2);
  const client = { url: service.url, key: short.key, audio: place.audio, signal: setting.signal };
  const { id, acceptedAt } = await send(client);
  await untilAnswered(client, id);
  await end();
  const since = server.asked.filter(({ beganAt }) => beganAt > acceptedAt);
  const before = since.findIndex(({ audioMs }) => audioMs < 10_000);
  return { work, measure: 'chunks that begin before it', values: [before], goal: { atMost: 1 } };
}

/** The short one again and again. */
async function makeLong({ folder }: Setting, minutes: number): Promise<Blob> {
  const path = join(folder, 'long.wav');
  const again = ['-stream_loop', '-1', '-i', join(folder, 'clip.wav'), '-t', String(60 * minutes)];
  await promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', ...again, path]);
  return new Blob([await readFile(path)]);
}

/** Times are counted in chunks: a chunk is as long as the server takes for one alone. */
interface Kind {
  /** How long a chunk takes. Where many are recognized at once it is long, so that the bench's own machine keeps up. */
  ms: number;
  /** How many it works on at once. */
  atOnce: (chunks: number) => number;
  /** How quickly it works on each, as a part of its best. */
  pace?: (inFlight: number) => number;
  /** What is beyond gets 429. */
  mayTake?: (chunks: number) => number;
}

interface Asked {
  beganAt: number;
  /** Undefined until it was answered. */
  endedAt?: number;
  audioMs: number;
}

interface SpeechServer {
  /** For `OPENAI_BASE_URL`. */
  readonly url: string;
  readonly kind: Kind;
  /** All that it took, in order. */
  readonly asked: readonly Asked[];
  readonly refused: () => number;
  /** How many chunks' time it has run, by its own clock, which begins with its first request. */
  chunks(): number;
  /** What it answered from one time to another, as a part of what it could. */
  share(fromChunks: number, toChunks: number): number;
  meanInFlight(fromChunks: number, toChunks: number): number;
}

const tickMs = 10;

async function startSpeechServer(setting: Setting, kind: Kind): Promise<SpeechServer> {
  const asked: Asked[] = [];
  let open: { own: Asked; leftMs: number; answer: () => void }[] = [];
  let refused = 0;
  let beganAt: number | undefined;
  const chunksAt = (at: number) => (beganAt === undefined ? 0 : (at - beganAt) / kind.ms);
  const chunks = () => chunksAt(performance.now());

  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const passedMs = (now - before) * (kind.pace?.(open.length) ?? 1);
    before = now;
    for (const each of open.slice(0, kind.atOnce(chunks()))) each.leftMs -= passedMs;
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
    if (open.length >= (kind.mayTake?.(chunks()) ?? Infinity)) {
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
    ...{ kind, asked, chunks, refused: () => refused },
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

/** Always another word: the same ones again and again would be recognized once more. */
function said(audioMs: number) {
  const words = Array.from({ length: Math.ceil(audioMs / 500) }, (_, index) => ({
    word: `w${index.toString(36)}`,
    ...{ start: index / 2, end: Math.min(audioMs / 1000, (index + 1) / 2) },
  }));
  return { text: words.map(({ word }) => word).join(' '), words };
}

async function until({ signal }: Setting, isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(20, undefined, { signal });
}
