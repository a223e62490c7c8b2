/** What happens to sessions, and when. The database tells it when the transaction commits. */
import { setTimeout as delay } from 'node:timers/promises';
import { openConnection } from '../../db/connection/database.ts';
import type { BenchDatabase } from './database.ts';
import type { Setting } from './bench.ts';

export interface SessionEvent {
  id: string;
  status: string;
  /** When the event was received, right after the commit, in ms of `performance.now()`. */
  at: number;
}

export interface SessionEvents {
  /** All of them, in order. */
  readonly all: readonly SessionEvent[];
  /** Waits for the first event that fits. */
  find(fits: (event: SessionEvent) => boolean, limitMs?: number): Promise<SessionEvent>;
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

  const all: SessionEvent[] = [];
  const connection = openConnection(database.url);
  connection.on('error', () => undefined);
  connection.on('notification', ({ payload = '' }) => {
    const [id = '', status = ''] = payload.split(' ');
    all.push({ id, status, at: performance.now() });
  });
  await connection.connect();
  await connection.query('listen bench');
  setting.atEnd(() => connection.end());

  const find: SessionEvents['find'] = async (fits, limitMs = 600_000) => {
    for (const deadline = performance.now() + limitMs; performance.now() < deadline;) {
      const event = all.find(fits);
      if (event !== undefined) return event;
      await delay(5, undefined, { signal: setting.signal });
    }
    throw new Error('what the bench waits for did not happen');
  };
  return { all, find };
}
