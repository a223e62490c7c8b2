/** The whole service on its own database, with one client, and what a recording costs it. */
import { seedAccounts, settle, startDatabase } from './database.ts';
import { cpuOfTree, watchMemory } from './process-tree.ts';
import { serviceEnv } from './program.ts';
import { send, untilAnswered } from './session-client.ts';
import type { Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { MemoryPeaks } from './process-tree.ts';
import type { Client } from './session-client.ts';

export interface Cost {
  text: string;
  /** From the file to its last word; of the service, from the first byte of the upload to the answer with the transcript. */
  ms: number;
  /** Of the service it is that of all that it started, too, and of PostgreSQL. */
  cpuMs: number;
  /** The service's `own` process, with both halves in it, and `below` it ffmpeg and the recognizer. */
  memory: MemoryPeaks;
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
