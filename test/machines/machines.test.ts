/**
 * What a fleet must bear while clients upload: each test is one thing that happens to it. A worker's claim is lost ten
 * seconds after its last heartbeat.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { openDatabase } from '../../db/connection/database.ts';
import { explainDatabaseFault } from '../../db/connection/explained-faults.ts';
import { checkNamedStatements, supportsListen } from '../../db/connection/pooler.ts';
import { makeClips } from '../rig/clips.ts';
import { inspect } from '../rig/inspection.ts';
import { tell } from '../rig/suite.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import { startFleet } from './fleet.ts';
import { startLoad } from './load.ts';
import { startPgBouncer } from './pgbouncer.ts';

const clips = await makeClips(useFolder());
const fleet = await startFleet();
const { apis, workers, db } = fleet;
const load = startLoad(fleet.server, clips);
/** How many uploads the fleet has ended. */
const ended = () => load.outcomes.filter(({ final }) => final !== undefined).length;

/** Uploads are accepted and transcribed. */
async function works(uploads = 3): Promise<void> {
  const before = ended();
  await until(() => ended() >= before + uploads);
}

beforeEach(() => fleet.ready());

test('every process is stopped and started again, one after the other → each request is answered', async () => {
  await works();
  const before = load.again.length;
  for (const machine of [...apis, ...workers]) {
    expect(await machine.stop()).toBe(0);
    await machine.start();
    await fleet.ready();
  }
  expect(load.again.slice(before)).toEqual([]);
});

test('an API process is killed → the other one answers', async () => {
  await apis[0].kill();
  await until(async () => (await fleet.nodesUp()) === 1);
  await works();
  await apis[0].start();
});

test('an API process is frozen → the other one answers', async () => {
  apis[1].freeze();
  await until(async () => (await fleet.nodesUp()) === 1);
  await works();
  apis[1].thaw();
});

test('a worker is killed in the middle of its jobs → the other one works', async () => {
  await jobsOfBoth();
  await workers[0].kill();
  await works();
  await workers[0].start();
});

test('a worker is frozen until its jobs were given away → when it comes back, it changes nothing of them', async () => {
  await jobsOfBoth();
  workers[1].freeze();
  const held = await jobs();
  const taken = async () =>
    (await sessions(held)).some(({ id, attempt }) =>
      held.some((before) => before.id === id && attempt > before.attempt),
    );
  await until(taken);
  const haveEnded = async () => (await sessions(held)).every(({ status }) => /completed|failed/.test(status));
  await until(haveEnded);
  const before = await sessions(held);
  workers[1].thaw();
  await works();
  expect(await sessions(held)).toEqual(before);
});

test('the database is restarted → clients get 503 meanwhile, and then it goes on', async () => {
  await works();
  await fleet.database.stop('SIGINT');
  await sleep(2_000);
  await fleet.database.start();
  await works();
});

const unfit = `max_prepared_statements = 0
ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout`;

test('a pooler that nobody told of, one that loses named statements, one that is deaf → each is found', async () => {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: direct } = fleet.environment;
  for (const variable of ['DATABASE_URL', 'DATABASE_DIRECT_URL'] as const) {
    const untold = openDatabase(url!, () => {});
    const asked = explainDatabaseFault(variable, sql`select 1`.execute(untold.db));
    await expect(asked.finally(untold.close)).rejects.toThrow(`${variable} leads to a pooler`);
  }
  const old = await startPgBouncer(direct!, unfit);
  await expect(checkNamedStatements(old.url)).rejects.toThrow('PgBouncer 1.21 or newer is needed');
  expect(await supportsListen(old.url, db)).toBe(false);
});

test('in the end → nothing is lost, doubled or left, and each is charged once', async () => {
  await load.end();
  expect(await inspect(fleet, load.outcomes)).toEqual([]);
  expect(fleet.around.flatMap(({ faults }) => faults)).toEqual([]);
  const count = (wanted: string) => load.outcomes.filter(({ final }) => final?.status === wanted).length;
  tell(
    `${load.outcomes.length} uploads: ${count('completed')} completed, ${count('failed')} failed and ${count('refused')} refused as they must; ${load.again.length} requests sent again; lost 0, doubled 0`,
  );
});

/** What is worked on now. */
const jobs = () => db.selectFrom('sessions').select(['id', 'attempt']).where('status', '=', 'processing').execute();

/** When both workers have some: each takes two at a time. */
const jobsOfBoth = () => until(jobs, (found) => found.length > 2);

/** What the database says of them now. */
const sessions = (held: { id: string }[]) => {
  const ids = held.map(({ id }) => id);
  return db.selectFrom('sessions').select(['id', 'attempt', 'status']).where('id', 'in', ids).orderBy('id').execute();
};
