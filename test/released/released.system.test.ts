/**
 * A data folder of every released version opens in this one. `scripts/release/main.ts` made the folders beside this file with the
 * released versions themselves: pg_dump's statements, compressed, the audio as it lay there, and what that version answered its clients.
 */
import { cp, mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import pg from 'pg';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { runAdminProcess } from '../scripts/admin/run-admin.ts';
import { startProcess } from '../support/service/processes.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import type { Answers } from '../../scripts/release/released-service.ts';
import type { Schema } from '../../codegen/operations.ts';

const folder = useFolder();
const gunzip = promisify(zlib.gunzip);

const entries = await readdir(import.meta.dirname, { withFileTypes: true });
const versions = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

test.each(versions)(
  'a data folder of %s → all is there as before, and what was unfinished is done and charged once',
  async (version) => {
    const { answers, sql } = await read(version);
    const dataDir = join(folder, version);
    await mkdir(dataDir, { mode: 0o711 });
    await cp(join(import.meta.dirname, version, 'audio'), join(dataDir, 'audio'), { recursive: true });
    await restore(join(dataDir, 'postgres'), sql);

    const service = await startProcess('start', { DATA_DIR: dataDir });
    const get = async <Answer>(path: string) => {
      const answer = await fetch(`${service.url}/v1${path}`, { headers: { Authorization: `Bearer ${answers.key}` } });
      expect([path, answer.status]).toEqual([path, 200]);
      return (await answer.json()) as Answer;
    };
    // Whatever a client was told before, it is told again. There may be more to tell now.
    for (const transcript of answers.transcripts) {
      const id = String(transcript['sessionId']);
      const session = answers.sessions.find((one) => one['id'] === id)!;
      expect(await get(`/sessions/${id}`)).toMatchObject(session);
      expect(await get(`/sessions/${id}/transcript?include=words`)).toMatchObject(transcript);
    }
    let chargedMs = 0;
    for (const id of answers.unfinished) {
      const ask = () => get<Schema<'Transcript'>>(`/sessions/${id}/transcript?wait=10`);
      const transcript = await until(ask, ({ status }) => status !== 'queued' && status !== 'processing');
      expect(transcript.status).toBe('completed');
      expect(transcript.segments.length).toBeGreaterThan(0);
      chargedMs += (await get<Schema<'Session'>>(`/sessions/${id}`)).chargedMs!;
    }

    const admin = (...words: string[]) => runAdminProcess(words, { DATA_DIR: dataDir });
    const before = answers.balance as Balance;
    const after = JSON.parse((await admin('balance', 'show', answers.accountId, '--json')).stdout) as Balance;
    expect(after.balanceMs).toBe(before.balanceMs - chargedMs);
    const charged = after.entries.slice(-2).map(({ sessionId }) => sessionId);
    expect(charged.toSorted()).toEqual(answers.unfinished.toSorted());
    expect(after.entries).toHaveLength(before.entries.length + 2);

    // The index of old transcripts is made while the service runs.
    const verified = await until(
      () => admin('verify'),
      ({ code }) => code === 0,
      60_000,
    );
    expect(verified.stdout).toContain('Everything holds.');
    expect((await get<{ items: { id: string }[] }>(`/sessions?q=${firstWord(answers)}`)).items.length).toBeGreaterThan(
      0,
    );
    expect(await service.stop()).toBe(0);
  },
);

interface Balance {
  balanceMs: number;
  entries: { sessionId?: string }[];
}

/** As if the folder had been made within the last day: jobs and audio of long ago are removed. */
async function read(version: string): Promise<{ answers: Answers; sql: string }> {
  const file = (name: string) => readFile(join(import.meta.dirname, version, name));
  const [answers, sql] = await Promise.all([file('answers.json'), file('database.sql.gz').then(gunzip)]);
  const { madeAt } = JSON.parse(answers.toString()) as Answers;
  const dayMs = 24 * 60 * 60 * 1000;
  const days = Math.floor((Date.now() - Date.parse(madeAt)) / dayMs);
  const moved = (all: Buffer) =>
    all
      .toString()
      .replace(/\b\d{4}-\d\d-\d\d(?=[ T]\d\d:\d\d:\d\d)/g, (date) =>
        new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10),
      );
  return { answers: JSON.parse(moved(answers)) as Answers, sql: moved(sql) };
}

async function restore(postgresFolder: string, sql: string): Promise<void> {
  const postgres = await joinEmbeddedPostgres({ folder: postgresFolder });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(sql);
  await client.end();
  await postgres.leave();
}

function firstWord({ transcripts }: Answers): string {
  const { segments } = transcripts.find(({ segments }) => (segments as unknown[]).length > 0)! as Schema<'Transcript'>;
  return segments[0]!.text.split(' ')[0]!;
}
