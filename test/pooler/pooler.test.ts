/** The service behind PgBouncer in transaction mode, as `npm run test:pooler` builds it. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../db/connection/database.ts';
import { migrate } from '../../scripts/admin/database.ts';
import { verify } from '../../scripts/admin/verify.ts';
import { ask, uploadOf } from '../rig/client.ts';
import { killAllMachines } from '../rig/machine.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { asSupport } from '../support/service/admin.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { throughPooler } from '../support/service/pooler.ts';
import { startProcess } from '../support/service/processes.ts';
import { until } from '../support/until.ts';
import { speechClips } from '../support/uploads/audio-fixtures.ts';
import { reconnect, startPgBouncer } from './pgbouncer.ts';
import type { ServiceProcess } from '../support/service/processes.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  killAllMachines();
  for (const end of ends.splice(0).reverse()) await end();
});

/** A database, a pooler before it, and what an operator sets. */
async function behind(settings: Record<string, string> = {}, isEmpty = false) {
  const template = new URL(process.env.TEST_DATABASE_URL!);
  template.pathname = isEmpty ? '/template1' : template.pathname;
  const { url, drop } = await createTestDatabase(template.href);
  ends.push(drop);
  const pooler = await startPgBouncer(url, { admin_users: new URL(url).username, ...settings });
  ends.push(pooler.stop);
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'pooled-'));
  const env = { DATABASE_URL: throughPooler(url, pooler.host), DATABASE_DIRECT_URL: url, DATA_DIR: dataDir };
  return { env, pooler, url };
}

/** Uploads a sentence, and waits for the end of its session as a client does. */
async function transcribe({ url }: ServiceProcess, databaseUrl: string): Promise<string> {
  const { db, close } = openDatabase(databaseUrl, () => {}, { maxConnections: 1 });
  const account = await makeAccount(db).finally(close);
  const server = { url, key: account.key };
  const [, clip] = await speechClips();
  const sent = uploadOf(await readFile(clip!.file), 'a.wav');
  const { status, body } = await ask<{ sessionId: string }>(server, '/transcriptions', sent);
  expect(status).toBe(202);
  const read = () => ask<{ status: string }>(server, `/sessions/${body.sessionId}/transcript?wait=15`);
  const isFinal = (session: { status: string }) => !['queued', 'processing'].includes(session.status);
  return (await until(read, (answer) => isFinal(answer.body))).body.status;
}

const endOf = async (env: Record<string, string>) => {
  const service = startProcess('start', env);
  const { message } = (await service.catch((error: unknown) => error)) as Error;
  return message;
};

test('an empty database behind it → tables and defaults of the role are made, audio becomes a transcript, verify is clean', async () => {
  const { env, url } = await behind({}, true);
  const service = await startProcess('start', env);
  expect(await transcribe(service, url)).toBe('completed');
  expect(service.lines.join()).not.toMatch(/LISTEN|queue error|"level":"(warn|error)".*database/);
  expect(await service.stop()).toBe(0);
  expect(await asSupport(env, verify, 'looks')).toMatchObject({ exitCode: 0 });
});

test('its role has no defaults → no start, until they are set and the pooler has reconnected', async () => {
  const { env, pooler, url } = await behind();
  expect(await endOf(env)).toMatch(
    /has connections of the role \w+ with .*statement_timeout 0 .*Type: npm run admin -- database migrate/,
  );
  await asSupport(env, migrate, 'migrates');
  expect(await endOf(env)).toContain("Then RECONNECT in the pooler's console");
  await reconnect(pooler, url);
  expect(await transcribe(await startProcess('start', env), url)).toBe('completed');
});

test('it keeps no named statements, as before 1.21 → no start, and the version that is needed', async () => {
  const { env } = await behind({ max_prepared_statements: '0' }, true);
  expect(await endOf(env)).toContain('PgBouncer 1.21 or newer is needed, with max_prepared_statements=200');
});

test('nobody told of it → no start, and the variable to set', async () => {
  const { env } = await behind();
  const { DATABASE_DIRECT_URL: _, ...untold } = env;
  expect(await endOf(untold)).toContain(
    'DATABASE_URL leads to a pooler. Name the server behind the pooler in DATABASE_DIRECT_URL',
  );
});

test('DATABASE_DIRECT_URL leads to it, too, and it refuses what is asked for → no start, and that variable', async () => {
  const { env } = await behind();
  const message = await endOf({ ...env, DATABASE_DIRECT_URL: `${env.DATABASE_URL}?application_name=x` });
  expect(message).toContain('DATABASE_DIRECT_URL leads to a pooler. Let it name the server behind the pooler');
  expect(message).not.toContain('DATABASE_URL leads');
});

const deaf = { ignore_startup_parameters: 'options,statement_timeout,idle_in_transaction_session_timeout' };

test('nobody told of it, and it ignores what connections ask for → no start, and the variable to set', async () => {
  const { env } = await behind(deaf);
  const { DATABASE_DIRECT_URL: _, ...untold } = env;
  expect(await endOf(untold)).toMatch(/statement_timeout 0 .*Name the server behind the pooler in DATABASE_DIRECT_URL/);
});

test('DATABASE_DIRECT_URL leads to it, too, and it ignores what is asked for → a warning that LISTEN hears nothing; jobs run and clients hear of their end', async () => {
  const { env, url } = await behind(deaf);
  await asSupport(env, migrate, 'migrates');
  const service = await startProcess('start', {
    ...env,
    DATABASE_DIRECT_URL: `${env.DATABASE_URL}?application_name=x`,
  });
  expect(await transcribe(service, url)).toBe('completed');
  await until(() => service.lines.join().includes('tells nothing by LISTEN'));
});
