/** What goes wrong, and which alerts tell it. Each fault is one that happens to operators; `begin` answers how it is put right. */
import { rename } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openDatabase } from '../../db/connection/database.ts';
import { allTheWhile } from '../rig/all-the-while.ts';
import type { Stage } from './stage.ts';

export interface Fault {
  what: string;
  alerts: string[];
  begin(stage: Stage): Promise<() => Promise<void>>;
}

export const faults: Fault[] = [
  {
    what: 'the worker is killed, and an upload waits',
    alerts: ['TranscriptionDown', 'TranscriptionQueueStuck', 'TranscriptionQueueGrows'],
    async begin({ worker, client }) {
      await worker.kill();
      await client.upload();
      return () => worker.start();
    },
  },
  {
    what: 'PostgreSQL is stopped, and clients go on asking',
    alerts: ['TranscriptionDatabaseAway', 'TranscriptionServerErrors'],
    async begin({ postgres, client }) {
      await postgres.stop();
      const stopLoad = client.load();
      return async () => {
        await postgres.start();
        await stopLoad();
      };
    },
  },
  {
    what: 'the folder of the audio is gone',
    alerts: ['TranscriptionWorkerWaiting', 'TranscriptionStoreRefuses'],
    async begin({ worker, client, dataDir }) {
      const [there, away] = [join(dataDir, 'audio'), join(dataDir, 'audio.away')];
      // So that its job is taken after its audio has gone.
      worker.freeze();
      await client.upload();
      await rename(there, away);
      worker.thaw();
      return () => rename(away, there);
    },
  },
  {
    what: 'the recognizer refuses what four clients send',
    alerts: ['TranscriptionAttemptsFail'],
    async begin({ speech, client }) {
      speech.refuses = true;
      const stops = Array.from({ length: 4 }, () => client.load());
      return async () => {
        speech.refuses = false;
        for (const stop of stops) await stop();
      };
    },
  },
  {
    what: 'somebody holds a lock for 4 s, again and again',
    alerts: ['TranscriptionSlow'],
    async begin({ postgres, client }) {
      const { db, close } = openDatabase(postgres.url, () => {}, { maxConnections: 1 });
      // Every request is counted in this table.
      const hold = sql`do $$ begin lock table allowance in access exclusive mode; perform pg_sleep(4); end $$`;
      const stopHolding = allTheWhile(100, () => hold.execute(db));
      const stopLoad = client.load();
      return async () => {
        await stopHolding();
        await stopLoad();
        await close();
      };
    },
  },
  {
    what: 'the recognizer has no room for what four clients send',
    alerts: ['TranscriptionSpeechServerRefuses'],
    async begin({ speech, client }) {
      speech.hasRoom = false;
      const stops = Array.from({ length: 4 }, () => client.load());
      return async () => {
        speech.hasRoom = true;
        for (const stop of stops) await stop();
      };
    },
  },
  {
    what: 'the recognizer becomes slow while four clients send',
    alerts: ['TranscriptionSpeechServerSlow'],
    async begin({ speech, client }) {
      const stops = Array.from({ length: 4 }, () => client.load());
      speech.ms = 500;
      return async () => {
        speech.ms = 20;
        for (const stop of stops) await stop();
      };
    },
  },
  {
    what: '100 wrong keys from one address, 5 allowed in a minute',
    alerts: ['TranscriptionKeyGuessing'],
    async begin({ client }) {
      // No more at once than there may be connections.
      for (let sent = 0; sent < 100; sent += 20)
        await Promise.all(Array.from({ length: 20 }, () => client.get('/sessions', 'tsk_0123456789')));
      return async () => {};
    },
  },
  {
    what: '100 connections where 32 are allowed (ulimit -n 320)',
    alerts: ['TranscriptionConnectionsRefused'],
    async begin({ apiPort }) {
      const sockets = Array.from({ length: 100 }, () => connect(apiPort, '127.0.0.1').on('error', () => {}));
      return async () => {
        for (const socket of sockets) socket.destroy();
      };
    },
  },
  {
    what: 'nobody reads the log during 8,000 requests',
    alerts: ['TranscriptionLogLost'],
    async begin({ api, client }) {
      api.output.pause();
      for (let sent = 0; sent < 8_000; sent += 20)
        await Promise.all(
          Array.from({ length: 20 }, () => client.get('/sessions/00000000-0000-7000-8000-000000000000')),
        );
      return async () => void api.output.resume();
    },
  },
];
