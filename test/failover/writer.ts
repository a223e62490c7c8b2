/** Writes a row all the while, and knows which rows PostgreSQL acknowledged, and when. */
import { sql } from 'kysely';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../db/database.ts';

export interface Writer {
  /** When each row was acknowledged (`performance.now()`). */
  acknowledgedAt: readonly number[];
  /** Stops. @returns numbers of acknowledged rows that are not there */
  end(): Promise<number[]>;
}

const everyMs = 50;

/** @param url of a database in which it makes a table of its own */
export async function startWriter(url: string): Promise<Writer> {
  const { db, close } = openDatabase(url, () => {}, { maxConnections: 2 });
  await sql`create table written (number int primary key)`.execute(db);
  const stopped = new AbortController();
  const [acknowledged, acknowledgedAt]: [number[], number[]] = [[], []];
  const keepWriting = async () => {
    for (let number = 1; !stopped.signal.aborted; number += 1) {
      const wrote = await sql`insert into written values (${number})`.execute(db).then(() => true, () => false); // prettier-ignore
      if (wrote) {
        acknowledged.push(number);
        acknowledgedAt.push(performance.now());
      }
      await sleep(everyMs);
    }
  };
  const ended = keepWriting();
  return {
    acknowledgedAt,
    async end() {
      stopped.abort();
      await ended;
      const { rows } = await sql<{ number: number }>`select number from written`.execute(db);
      await close();
      const there = new Set(rows.map(({ number }) => number));
      return acknowledged.filter((number) => !there.has(number));
    },
  };
}
