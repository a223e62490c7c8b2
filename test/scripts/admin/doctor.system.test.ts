/** `doctor`: each thing that may be wrong is said, with what to do, and nothing else is called wrong. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { startHelloServer } from '../../support/models/hello-server.ts';
import { startRefusingStore } from '../../support/faults/refusing-store.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { environmentOf, runAdmin } from './run-admin.ts';
import type { Finding } from '../../../scripts/admin/doctor.ts';

const service = await useService();
const well = environmentOf(service);
const path = { PATH: process.env['PATH']! };
const hello = await startHelloServer();
const objects = await startRefusingStore();

async function doctor(env: Record<string, string>) {
  const { code, stdout } = await runAdmin(['--json', 'doctor'], { ...path, ...hello.env, ...env });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, wrong: findings.filter(({ state }) => state === 'wrong'), findings };
}

const withUrl = (change: (url: URL) => void) => {
  const url = new URL(service.databaseUrl);
  change(url);
  return { ...well, DATABASE_URL: url.href };
};

test('all is well → a line for each, exit code 0, and nothing is left behind', async () => {
  const { code, stdout } = await runAdmin(['doctor'], { ...path, ...well });
  expect(stdout).toMatch(/^ok {2}database +PostgreSQL 1\d/m);
  for (const name of ['its settings', 'pooler', 'connections', 'tables', 'clock', 'audio store', 'disk', 'ffmpeg'])
    expect(stdout).toMatch(new RegExp(`^ok  ${name} +\\S`, 'm'));
  expect(stdout).toMatch(/^ok {2}recognizer +sherpa-onnx heard a second of a tone/m);
  expect(stdout.trim().split('\n').at(-1)).toBe('Everything is well.');
  expect(code).toBe(0);
  expect(await readdir(join(service.dataDir, 'audio'))).toEqual(['incoming', 'store-mark']);
});

test.each([
  ['a wrong password', () => withUrl((url) => (url.password = 'wrong')), 'database', /^the database of DATABASE_URL refuses: password auth/],
  ['no such database', () => withUrl((url) => (url.pathname = '/none')), 'database', /refuses: database "none" does not exist/],
  ['nobody there', () => withUrl((url) => (url.port = '1')), 'database', /can not be reached: connect ECONNREFUSED/],
  ['no room on the disk', () => ({ ...well, MIN_FREE_DISK: String(2 ** 52) }), 'disk', /GiB free below .*MIN_FREE_DISK/],
  ['another disk', () => ({ ...well, DATA_DIR: useFolder() }), 'audio store', /does not hold its mark/],
  ['no model', () => ({ ...well, RECOGNIZER: 'sherpa-onnx', SHERPA_ONNX_MODEL: '/nowhere' }), 'recognizer', /SHERPA_ONNX_MODEL: /],
  ['no ffmpeg', () => ({ ...well }), 'ffmpeg', /ffmpeg was not found/],
])('%s → said, with what to do, exit code 1', async (what, env, name, why) => {
  const before = process.env['PATH'];
  if (what === 'no ffmpeg') process.env['PATH'] = '/nowhere';
  try {
    const { code, wrong } = await doctor(env());
    expect(code).toBe(1);
    expect(wrong[0]).toEqual({ check: name, state: 'wrong', found: expect.stringMatching(why), todo: expect.any(String) });
  } finally {
    process.env['PATH'] = before;
  }
}); // prettier-ignore

test('a store that refuses uploads → only the store is wrong', async () => {
  objects.uploads = 'AccessDenied';
  await sql`update audio_store set is_written = false`.execute(service.db);
  const { code, wrong } = await doctor({ ...well, ...objects.env });
  await sql`update audio_store set is_written = true`.execute(service.db);
  expect(code).toBe(1);
  expect(wrong.map(({ check, found }) => [check, found])).toEqual([
    ['audio store', 'the object store can not be used: AccessDenied: AccessDenied of a test'],
  ]);
});

test('nothing is there yet → the first start makes it, and the rest is looked at', async () => {
  const { code, findings } = await doctor({ DATA_DIR: useFolder() });
  expect(code).toBe(0);
  expect(findings[0]).toMatchObject({ state: 'good', found: 'none yet: the first start makes it' });
  expect(findings.filter(({ state }) => state === 'not looked at').map(({ check }) => check)).toEqual([
    ...['its settings', 'pooler', 'connections', 'tables', 'clock'],
  ]);
});
