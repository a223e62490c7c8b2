/** Memory of the API: after very many requests, and while very long transcripts are read. */
import { startApiProgram, memoryOf } from './program.ts';
import { load } from './wrk.ts';
import type { Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { Grown, ReadWork } from './growth-database.ts';

const megabyte = 1_000_000;
const mixed: ReadWork[] = ['page 1', 'one session', 'transcript', 'page 10,000'];

export interface Steady {
  /** How many requests there were so far, and the resident memory then, in MB. */
  course: { requests: number; mb: number }[];
}

/** All kinds of reads in turn at one process. */
export async function readVeryOften(setting: Setting, { api, targets }: Grown, requests: number): Promise<Steady> {
  const course: Steady['course'] = [];
  let sum = 0;
  for (let turn = 0; sum < requests; turn += 1) {
    setting.signal.throwIfAborted();
    const seconds = setting.sized({ full: 5, quick: 1, tiny: 1 });
    const figures = await load(setting, api.url, targets[mixed[turn % mixed.length]!], seconds);
    if (figures.failures > 0) throw new Error(`${figures.failures} requests failed`);
    sum += figures.requests;
    if (turn % mixed.length === mixed.length - 1) course.push({ requests: sum, mb: memoryOf(api.pid).now / megabyte });
  }
  course.push({ requests: sum, mb: memoryOf(api.pid).now / megabyte });
  return { course };
}

export interface Long {
  /** Bytes of the transcript as it was sent. */
  bytes: number;
  /** The most memory that a fresh process ever had, in MB: with one client at a time, and with many at once. */
  oneMb: number;
  manyMb: number;
  /** How long it took until all of the many clients had read it. */
  manyMs: number;
}

/** Reads one very long transcript several times, by one client and then by `clients` at once. */
export async function readLong(
  setting: Setting,
  { url, query }: BenchDatabase,
  { id: accountId, key }: BenchAccount,
  { segments, clients }: { segments: number; clients: number },
): Promise<Long> {
  const [session] = await query<{ id: string }>(
    `with long as (
       select id from sessions where account_id = $1 and status = 'completed'
         and not exists (select from transcripts where session_id = sessions.id) limit 1
     )
     insert into transcripts (account_id, session_id, segments, words)
     select $1, id, (select json_agg(json_build_object('index', i, 'startMs', i * 100, 'endMs', i * 100 + 90,
       'text', md5(i::text) || ' ' || md5((i + 1)::text), 'confidence', 0.75) order by i)
       from generate_series(0, $2::int - 1) as i), '[]' from long
     returning session_id as id`,
    [accountId, segments],
  );
  const api = await startApiProgram(setting, url, { NODE_ENV: 'production' });
  const path = `${api.url}/v1/sessions/${session!.id}/transcript`;
  const headers = { Authorization: `Bearer ${key}`, 'Accept-Encoding': 'identity' };
  const read = async () => {
    const response = await fetch(path, { headers });
    if (response.status !== 200) throw new Error(`the long transcript was answered ${response.status}`);
    let bytes = 0;
    for await (const piece of response.body!) bytes += piece.length;
    return bytes;
  };
  let bytes = 0;
  for (let turn = 0; turn < 5; turn += 1) bytes = await read();
  const oneMb = memoryOf(api.pid).peak / megabyte;
  const began = performance.now();
  const sizes = await Promise.all(Array.from({ length: clients }, read));
  const manyMs = performance.now() - began;
  if (new Set(sizes).size !== 1 || sizes[0] !== bytes) throw new Error('the clients did not read the same');
  const manyMb = memoryOf(api.pid).peak / megabyte;
  await api.stop();
  return { bytes, oneMb, manyMb, manyMs };
}
