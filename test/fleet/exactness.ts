/** What has to be exact although two nodes answer: the allowance, and who hears of the end of a session. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { makeAccount } from '../support/service/accounts.ts';
import type { Clips } from '../crash/clips.ts';
import type { Fleet } from './fleet.ts';

const windowSeconds = 60;
/** The requests have to be over before the window is. */
const enoughSeconds = 12;
const allowance = 50;

/** Three times as many requests as an account may send, half of them to each node. @returns what is wrong */
export async function allowanceOverNodes({ db, apis }: Fleet): Promise<string[]> {
  const { id, key } = await makeAccount(db, { limits: { requests_per_minute: allowance } });
  await windowWithRoom(db);
  const headers = { Authorization: `Bearer ${key}` };
  const asked = Array.from({ length: 3 * allowance }, async (_, index) => {
    const { address } = apis[index % apis.length]!.place;
    const response = await fetch(`http://${address}:8080/v1/sessions?limit=1`, { headers });
    await response.text();
    return response.status;
  });
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

const waitSeconds = 30;
/** A node looks by itself every 5 s. Whoever hears of it is told at once, also on a busy machine. */
const heardWithinSeconds = 1.5;
const tries = 4;

/** Uploads to one node and waits at the other. @returns what is wrong */
export async function waitAtTheOther({ apis, db }: Fleet, clips: Clips): Promise<string[]> {
  const { key } = await makeAccount(db);
  const [here, there] = apis.map(({ place }) => `http://${place.address}:8080/v1`);
  const headers = { Authorization: `Bearer ${key}` };
  const late: number[] = [];
  while (late.length < tries) {
    const body = new FormData();
    body.set('file', new Blob([Uint8Array.from(clips.speech[0]!.bytes)], { type: 'audio/wav' }), 'elsewhere.wav');
    const accepted = await fetch(`${here}/transcriptions`, { method: 'POST', headers, body });
    const { sessionId } = (await accepted.json()) as { sessionId: string };
    await untilCompleted(`${there}/sessions/${sessionId}/transcript?wait=${waitSeconds}`, headers);
    const { rows } = await sql<{
      ago: number;
    }>`select extract(epoch from clock_timestamp() - completed_at)::float8 as ago
      from sessions where id = ${sessionId}`.execute(db);
    if (rows[0]!.ago < heardWithinSeconds) return [];
    late.push(rows[0]!.ago);
  }
  return [`the other node heard of the end of a session ${late.map((ago) => ago.toFixed(1)).join(', ')} s later`];
}

async function untilCompleted(url: string, headers: Record<string, string>): Promise<void> {
  for (;;) {
    const answer = (await (await fetch(url, { headers })).json()) as { status: string };
    if (answer.status === 'completed') return;
    if (!['queued', 'processing'].includes(answer.status)) throw new Error(`the session ended ${answer.status}`);
  }
}
