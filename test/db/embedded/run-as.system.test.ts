import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { cleanUp, newFolder, processStatus, processesIn, recordedPid, query } from './postgres-folder.ts';

afterEach(cleanUp);

const self = process.getuid?.() ?? NaN;
const asRoot = self === 0;

function effectiveUser(pid: number): number {
  return Number(processStatus(pid, 'Uid')?.split('\t')[1]);
}

/** Effective capabilities as the kernel shows them: a mask of 16 hexadecimal digits. */
function capabilities(pid: number): bigint {
  return BigInt(`0x${processStatus(pid, 'CapEff')}`);
}

const dacOverride = 1n << 1n;
const dacReadSearch = 1n << 2n;

test('a folder that only its owner may enter → PostgreSQL runs as himself, or for root as another with one capability', async () => {
  const folder = newFolder();
  expect(statSync(path.dirname(folder)).mode & 0o777).toBe(0o700);
  const postgres = await joinEmbeddedPostgres({ folder });
  expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  const pid = recordedPid(folder);
  if (asRoot) {
    expect(effectiveUser(pid)).not.toBe(0);
    expect([dacOverride, dacReadSearch]).toContain(capabilities(pid));
  } else {
    expect(effectiveUser(pid)).toBe(self);
    expect(capabilities(pid)).toBe(0n);
  }
  expect(statSync(path.join(folder, 'data')).uid).toBe(effectiveUser(pid));
  await postgres.leave();
  expect(processesIn(folder)).toEqual([]);
});

test('a folder that was there before, for its owner only → works as well', async () => {
  const folder = newFolder();
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(path.dirname(folder), 0o755);
  await (await joinEmbeddedPostgres({ folder })).leave();
  const again = await joinEmbeddedPostgres({ folder });
  expect(await query(again.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await again.leave();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('data of another user → for root the server runs as that user; anybody’s own data stay his', async () => {
  const folder = newFolder();
  await (await joinEmbeddedPostgres({ folder })).leave();
  const data = path.join(folder, 'data');
  const owner = asRoot ? 54_321 : self;
  execFileSync('chown', ['-R', String(owner), data]);
  const postgres = await joinEmbeddedPostgres({ folder });
  expect(effectiveUser(recordedPid(folder))).toBe(owner);
  expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await postgres.leave();
  expect(statSync(data).uid).toBe(owner);
});
