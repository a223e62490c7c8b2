/** Writes a row all the while, and knows which rows PostgreSQL acknowledged, and when. */
import { sql } from 'kysely';
import { openDatabase } from '../../db/connection/database.ts';
import { allTheWhile } from '../rig/all-the-while.ts';

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
  const [acknowledged, acknowledgedAt]: [number[], number[]] = [[], []];
  let number = 0;
  const stop = allTheWhile(everyMs, async () => {
    const own = (number += 1);
    await sql`insert into written values (${own})`.execute(db);
    acknowledged.push(own);
    acknowledgedAt.push(performance.now());
  });
  return {
    acknowledgedAt,
    async end() {
      await stop();
      const { rows } = await sql<{ number: number }>`select number from written`.execute(db);
      await close();
      const there = new Set(rows.map(({ number }) => number));
      return acknowledged.filter((number) => !there.has(number));
    },
  };
}
