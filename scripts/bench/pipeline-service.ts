/** Runs the whole service as `npm start` does, with one client, and measures what a recording costs. */
import { openAsBlob } from 'node:fs';
import { seedAccounts, settle, startDatabase } from './database.ts';
import { cpuOfTree, watchMemory } from './process-tree.ts';
import { serviceEnv, startProgram } from './program.ts';
import { send, untilAnswered } from './session-client.ts';
import { watchSessions } from './session-events.ts';
import type { AloneRun } from './alone.ts';
import type { Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { Client } from './session-client.ts';
import type { SessionEvents } from './session-events.ts';

type Meanwhile = (client: Client, id: string) => Promise<void>;

export interface Pipeline {
  /** @param meanwhile runs until the session is final */
  transcribe(file: string, meanwhile?: Meanwhile): Promise<PipelineRun>;
}

/**
 * What is measured of the recognizer alone, too. The time is from the first byte of the upload to the answer with the transcript.
 * The CPU time is that of the service, of all that it started, and of PostgreSQL. Memory is the service's `own`
 * process, with both halves in it, and `below` it ffmpeg and the recognizer.
 */
export interface PipelineRun extends AloneRun {
  /** The parts of the time, in ms, one after the other. */
  parts: { upload: number; pickup: number; work: number; answer: number };
}

const longestAudioMs = 48 * 3_600_000;

export interface Prepared {
  database: BenchDatabase & { leave(): Promise<void> };
  account: BenchAccount;
  events: SessionEvents;
}

/** A database where the service would start its own, with an account that may send recordings of any length. */
export async function preparePipeline(setting: Setting): Promise<Prepared> {
  const database = await startDatabase(setting, serviceEnv(setting, '').DATA_DIR);
  const [account] = await seedAccounts(database, 1);
  const limits = `update accounts set max_audio_ms = ${longestAudioMs}, max_upload_bytes = 2147483647`;
  await database.query(limits);
  await settle(database);
  return { database, account: account!, events: await watchSessions(setting, database) };
}

/** @param env added to what an operator would set */
export async function startPipeline(setting: Setting, env: Record<string, string>): Promise<Pipeline> {
  const prepared = await preparePipeline(setting);
  const { database, account } = prepared;
  const service = await startProgram(setting, {
    script: 'src/start.ts',
    env: { ...serviceEnv(setting, database.url), NODE_ENV: 'production', ...env },
  });
  return {
    async transcribe(file, meanwhile) {
      const audio = await openAsBlob(file);
      const client: Client = { url: service.url, key: account.key, audio, signal: setting.signal };
      return transcribeBy(client, prepared, service.pid, meanwhile);
    },
  };
}

/** @param pid of the service */
export async function transcribeBy(
  client: Client,
  { database, events }: Prepared,
  pid: number,
  meanwhile?: Meanwhile,
): Promise<PipelineRun> {
  const cpu = () => cpuOfTree(pid) + cpuOfTree(database.pid);
  const cpuBefore = cpu();
  const memory = watchMemory(pid);
  try {
    const began = performance.now();
    const { id, acceptedAt } = await send(client);
    const [answeredAt] = await Promise.all([untilAnswered(client, id), meanwhile?.(client, id)]);
    const at = async (status: string) => (await events.find((event) => event.id === id && event.status === status)).at;
    const [claimedAt, storedAt] = [await at('processing'), await at('completed')];
    return {
      text: await textOf(client, id),
      ms: answeredAt - began,
      cpuMs: cpu() - cpuBefore,
      memory: memory.stop(),
      parts: {
        upload: acceptedAt - began,
        pickup: claimedAt - acceptedAt,
        work: storedAt - claimedAt,
        answer: answeredAt - storedAt,
      },
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
