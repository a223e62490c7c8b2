import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { cleanUp, killAll, newFolder, newFolderWithCluster, postmasterPidFile, query } from './postgres-folder.ts';
import { processStatus, processTitled, processesIn, recordedPid, startUser } from './postgres-folder.ts';
import { until } from '../../support/until.ts';

afterEach(cleanUp);

/** Joins, sees that what was committed is still there, and leaves: every case must end like this. */
async function expectSoundServer(folder: string): Promise<void> {
  const postgres = await joinEmbeddedPostgres({ folder });
  try {
    expect(await query(postgres.url, 'SELECT word FROM spoken')).toEqual([{ word: 'hello' }]);
  } finally {
    await postgres.leave();
  }
  expect(processesIn(folder)).toEqual([]);
  expect(existsSync(postmasterPidFile(folder))).toBe(false);
}

async function startUserWithData(folder: string): Promise<ReturnType<typeof startUser>> {
  const user = startUser(folder);
  await query(await user.url, `CREATE TABLE spoken AS SELECT 'hello' AS word`);
  return user;
}

test('the only user is killed → the server stays, the next one adopts it', async () => {
  const folder = await newFolderWithCluster();
  const user = await startUserWithData(folder);
  const pid = recordedPid(folder);
  await user.kill();
  const next = startUser(folder);
  expect(await next.url).toBe(await user.url);
  expect(recordedPid(folder)).toBe(pid);
  await next.leave();
  await expectSoundServer(folder);
});

test('everything is killed → the next start just works, with all that was committed', async () => {
  const folder = await newFolderWithCluster();
  const user = await startUserWithData(folder);
  await user.kill();
  killAll(processesIn(folder));
  await until(() => processesIn(folder).length === 0);
  await expectSoundServer(folder);
});

test('postmaster.pid is empty, or names a living process of another program → it is stale, and that program lives on', async () => {
  const folder = await newFolderWithCluster();
  await (await startUserWithData(folder)).leave();
  writeFileSync(postmasterPidFile(folder), '');
  await expectSoundServer(folder);
  // One in the data folder itself, as a person looking around would be.
  const other = spawn('sleep', ['1000'], { cwd: path.join(folder, 'data') });
  await once(other, 'spawn');
  writeFileSync(postmasterPidFile(folder), `${other.pid}\n${folder}/data\n1700000000\n5432\n\n127.0.0.1\n\nready   \n`);
  await expectSoundServer(folder);
  expect(other.exitCode ?? other.signalCode).toBeNull();
  other.kill();
  await once(other, 'close');
});

test('a killed postmaster that nobody reaps → it is stale', async () => {
  const folder = await newFolderWithCluster();
  const user = await startUserWithData(folder);
  const postmaster = recordedPid(folder);
  process.kill(user.pid(), 'SIGSTOP');
  process.kill(postmaster, 'SIGKILL');
  await until(() => processStatus(postmaster, 'State')?.startsWith('Z') === true);
  const next = await joinEmbeddedPostgres({ folder });
  expect(await query(next.url, 'SELECT word FROM spoken')).toEqual([{ word: 'hello' }]);
  expect(processStatus(postmaster, 'State')).toMatch(/^Z/);
  await next.leave();
  process.kill(user.pid(), 'SIGCONT');
  await user.leave();
  await expectSoundServer(folder);
});

test('a process outlives a killed postmaster → the next start waits until it has ended', async () => {
  const folder = await newFolderWithCluster();
  const user = await startUserWithData(folder);
  const outliving = processTitled(folder, 'checkpointer');
  process.kill(outliving, 'SIGSTOP');
  process.kill(recordedPid(folder), 'SIGKILL');
  await user.kill();
  await until(() => processesIn(folder).length === 1);
  const waiting = expectSoundServer(folder);
  await until(() => readFileSync(path.join(folder, 'server.log'), 'utf8').includes('pre-existing shared memory block'));
  process.kill(outliving, 'SIGCONT');
  await waiting;
});

test('the server is still shutting down → the join waits for its end and starts it again', async () => {
  const folder = await newFolderWithCluster();
  const user = await startUserWithData(folder);
  process.kill(processTitled(folder, 'checkpointer'), 'SIGSTOP');
  const postmaster = recordedPid(folder);
  process.kill(postmaster, 'SIGINT');
  await until(() => readFileSync(postmasterPidFile(folder), 'utf8').includes('stopping'));
  await user.kill();
  const waiting = expectSoundServer(folder);
  process.kill(processTitled(folder, 'checkpointer'), 'SIGCONT');
  await waiting;
  expect(processStatus(postmaster, 'State') ?? 'Z').toMatch(/^Z/);
});

test('the last user leaves while the server recovers from a crash → it stops all the same', async () => {
  const folder = await newFolderWithCluster();
  const user = await startUserWithData(folder);
  process.kill(processTitled(folder, 'walwriter'), 'SIGKILL');
  await until(() => readFileSync(path.join(folder, 'server.log'), 'utf8').includes('reinitializing'));
  await user.leave();
  expect(processesIn(folder)).toEqual([]);
  await expectSoundServer(folder);
});

test('killed in the middle of initdb → the next start makes the cluster, and nothing is left of the first', async () => {
  const folder = newFolder();
  const user = startUser(folder);
  const unfinished = (): string[] =>
    existsSync(folder) ? readdirSync(folder).filter((name) => /^new-/.test(name)) : [];
  await until(() => unfinished().some((name) => existsSync(path.join(folder, name, 'PG_VERSION'))));
  await user.kill();
  expect(existsSync(path.join(folder, 'data'))).toBe(false);
  await (await startUserWithData(folder)).leave();
  expect(unfinished()).toEqual([]);
  await expectSoundServer(folder);
});

test('the server is killed while it is kept running → it comes back on its port, with all that was committed', async () => {
  const folder = await newFolderWithCluster();
  const postgres = await joinEmbeddedPostgres({ folder });
  await query(postgres.url, `CREATE TABLE spoken AS SELECT 'hello' AS word`);
  let moved = 0;
  postgres.keepRunning(() => (moved += 1));
  const killed = recordedPid(folder);
  process.kill(killed, 'SIGKILL');
  await until(() => existsSync(postmasterPidFile(folder)) && recordedPid(folder) !== killed);
  await expectAnswer(postgres.url);
  expect(moved).toBe(0);
  await postgres.leave();
  expect(processesIn(folder)).toEqual([]);
});

async function expectAnswer(url: string): Promise<void> {
  const answer = await until(() => query(url, 'SELECT word FROM spoken').catch(() => undefined));
  expect(answer).toEqual([{ word: 'hello' }]);
}
