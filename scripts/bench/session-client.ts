/** A client of the service: uploads a short clip and waits for its transcript. What happens to sessions meanwhile is read from the database. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openConnection } from '../../db/connection/database.ts';
import { seedAccounts, settle, startDatabase } from './database.ts';
import { cpuOfTree, watchMemory } from './process-tree.ts';
import { serviceEnv } from './program.ts';
import type { Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';

export interface Client {
  url: string;
  /** An API key with both scopes. */
  key: string;
  audio: Blob;
  /** Ends what is going on. */
  signal?: AbortSignal;
}

/** A second and a half of a human voice, or of a tone where Debian's samples are not installed. */
export async function makeSpeech({ folder }: Setting): Promise<Blob> {
  const voice = '/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav';
  const path = join(folder, 'clip.wav');
  const cut = (...input: string[]) =>
    promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', ...input, '-t', '1.5', '-ar', '16000', '-ac', '1', path]);
  await cut('-i', voice).catch(() => cut('-f', 'lavfi', '-i', 'sine'));
  return new Blob([await readFile(path)]);
}

/** Uploads the audio. @returns when the 202 came, by `performance.now()` */
export async function send({ url, key, audio, signal }: Client): Promise<{ id: string; acceptedAt: number }> {
  const body = new FormData();
  body.set('file', audio, 'clip.wav');
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/transcriptions`, { method: 'POST', headers, body, signal: signal ?? null });
  const acceptedAt = performance.now();
  if (response.status !== 202) throw new Error(`an upload was answered ${response.status}`);
  return { id: ((await response.json()) as { sessionId: string }).sessionId, acceptedAt };
}

/** Asks with `wait` until the session is final. @returns when the answer came, by `performance.now()` */
export async function untilAnswered({ url, key, signal }: Client, id: string): Promise<number> {
  const headers = { Authorization: `Bearer ${key}` };
  for (;;) {
    const response = await fetch(`${url}/v1/sessions/${id}/transcript?wait=30`, { headers, signal: signal ?? null });
    const { status } = (await response.json()) as { status: string };
    const answeredAt = performance.now();
    if (status === 'completed') return answeredAt;
    if (status !== 'queued' && status !== 'processing') throw new Error(`a session is ${status}`);
  }
}

export interface SessionEvents {
  /** When each session got this status, in ms of `performance.now()` right after the commit, in order. */
  timesOf(status: string): number[];
  /** Waits until a session has got this status. @returns when that was */
  timeOf(id: string, status: string): Promise<number>;
}

/** Watches by a trigger in the bench's own database, so the service runs unchanged. */
export async function watchSessions(setting: Setting, database: BenchDatabase): Promise<SessionEvents> {
  await database.query(`create function tell_bench() returns trigger language plpgsql as $$
    begin
      perform pg_notify('bench', new.id || ' ' || new.status);
      return null;
    end $$`);
  await database.query(`create trigger tell_bench after insert or update of status on sessions
    for each row execute function tell_bench()`);

  const all: { id: string; status: string; at: number }[] = [];
  const connection = openConnection(database.url);
  connection.on('error', () => undefined);
  connection.on('notification', ({ payload = '' }) => {
    const [id = '', status = ''] = payload.split(' ');
    all.push({ id, status, at: performance.now() });
  });
  await connection.connect();
  await connection.query('listen bench');
  setting.atEnd(() => connection.end());

  return {
    timesOf: (status) => all.filter((event) => event.status === status).map(({ at }) => at),
    async timeOf(id, status) {
      for (;;) {
        const event = all.find((one) => one.id === id && one.status === status);
        if (event !== undefined) return event.at;
        await delay(5, undefined, { signal: setting.signal });
      }
    },
  };
}

export interface Cost {
  text: string;
  /** From the file to its last word; of the service, from the first byte of the upload to the answer with the transcript. */
  ms: number;
  /** Of the service it is that of all that it started, too, and of PostgreSQL. */
  cpuMs: number;
  /** The service's `own` process, with both halves in it, and `below` it ffmpeg and the recognizer. */
  memory: ReturnType<ReturnType<typeof watchMemory>['stop']>;
}

const longestAudioMs = 48 * 3_600_000;

export interface Prepared {
  database: BenchDatabase & { leave(): Promise<void> };
  account: BenchAccount;
}

/** A database where the service would start its own, with an account that may send recordings of any length. */
export async function preparePipeline(setting: Setting): Promise<Prepared> {
  const database = await startDatabase(setting, serviceEnv(setting, '')['DATA_DIR']);
  const [account] = await seedAccounts(database, 1);
  await database.query(`update accounts set max_audio_ms = ${longestAudioMs}, max_upload_bytes = 2147483647`);
  await settle(database);
  return { database, account: account! };
}

/** @param pid of the service */
export async function transcribeBy(client: Client, { database }: Prepared, pid: number): Promise<Cost> {
  const cpu = () => cpuOfTree(pid) + cpuOfTree(database.pid);
  const cpuBefore = cpu();
  const memory = watchMemory(pid);
  try {
    const began = performance.now();
    const { id } = await send(client);
    const answeredAt = await untilAnswered(client, id);
    return {
      text: await textOf(client, id),
      ms: answeredAt - began,
      cpuMs: cpu() - cpuBefore,
      memory: memory.stop(),
    };
  } finally {
    memory.stop();
  }
}

async function textOf({ url, key }: Client, id: string): Promise<string> {
  const headers = { Authorization: `Bearer ${key}`, Accept: 'text/plain' };
  const response = await fetch(`${url}/v1/sessions/${id}/transcript`, { headers });
  if (response.status !== 200) throw new Error(`a transcript was answered ${response.status}`);
  return response.text();
}
