/** What has to be exact although two nodes answer: the allowance, and who hears of the end of a session. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { ask, statusOf, uploadOf } from '../rig/client.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { urlOf } from './fleet.ts';
import type { Server } from '../rig/client.ts';
import type { Clips } from '../rig/clips.ts';
import type { Fleet } from './fleet.ts';

const windowSeconds = 60;
/** The requests have to be over before the window is. */
const enoughSeconds = 12;
const allowance = 50;

/** Three times as many requests as an account may send, half of them to each node. @returns what is wrong */
export async function allowanceOverNodes({ db, apis }: Fleet): Promise<string[]> {
  const { id, key } = await makeAccount(db, { limits: { requests_per_minute: allowance } });
  await windowWithRoom(db);
  const asked = Array.from({ length: 3 * allowance }, (_, index) =>
    statusOf({ url: urlOf(apis[index % apis.length]!), key }, '/sessions?limit=1'),
  );
  const statuses = await Promise.all(asked);
  const [admitted, refused] = [200, 429].map((status) => statuses.filter((one) => one === status).length);
  const { rows } = await sql<{ used: number }>`select used from allowance where account_id = ${id}`.execute(db);
  const isExact = admitted === allowance && refused === 2 * allowance && rows[0]?.used === allowance;
  return isExact
    ? []
    : [`of ${statuses.length} requests ${admitted} were admitted and ${rows[0]?.used} counted, not ${allowance}`];
}

async function windowWithRoom(db: Fleet['db']): Promise<void> {
  const { rows } = await sql<{ left: number }>`
    select (${windowSeconds} - extract(epoch from clock_timestamp()) % ${windowSeconds})::float8 as left`.execute(db);
  if (rows[0]!.left < enoughSeconds) await sleep(rows[0]!.left * 1_000 + 100);
}

const waitSeconds = 15;
/** A node looks by itself every 5 s. Whoever hears of it is told at once, also on a busy machine. */
const heardWithinSeconds = 1.5;
const tries = 4;

/** Uploads to one node and waits at the other. @returns what is wrong */
export async function waitAtTheOther({ apis, db }: Fleet, clips: Clips): Promise<string[]> {
  const { key } = await makeAccount(db);
  const [here, there] = apis.map((api) => ({ url: urlOf(api), key })) as [Server, Server];
  const late: number[] = [];
  while (late.length < tries) {
    const { body } = await ask<{ sessionId: string }>(
      here,
      '/transcriptions',
      uploadOf(clips.speech[0]!.bytes, 'a.wav'),
    );
    await untilCompleted(there, body.sessionId);
    const { rows } = await sql<{ ago: number }>`
      select extract(epoch from clock_timestamp() - completed_at)::float8 as ago
      from sessions where id = ${body.sessionId}`.execute(db);
    if (rows[0]!.ago < heardWithinSeconds) return [];
    late.push(rows[0]!.ago);
  }
  return [`the other node heard of the end of a session ${late.map((ago) => ago.toFixed(1)).join(', ')} s later`];
}

async function untilCompleted(server: Server, sessionId: string): Promise<void> {
  for (;;) {
    const { body } = await ask<{ status: string }>(server, `/sessions/${sessionId}/transcript?wait=${waitSeconds}`);
    if (body.status === 'completed') return;
    if (!['queued', 'processing'].includes(body.status)) throw new Error(`the session ended ${body.status}`);
  }
}
