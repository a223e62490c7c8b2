import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { makeAccount } from '../support/service/accounts.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { steadyPort } from '../rig/ports.ts';
import { useService } from '../support/service/use-service.ts';
import { until } from '../support/until.ts';
import { tone } from '../support/uploads/uploads.ts';

const root = join(import.meta.dirname, '../..');

test('three wrong variables → one message that names all three, exit code 2', () => {
  const env = { PATH: process.env.PATH, PORT: 'abc', DATABASE_URL: 'nonsense', RECOGNIZER: 'foo' };
  const { status, stderr, stdout } = spawnSync(process.execPath, ['src/start.ts'], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  for (const fault of ['PORT=abc', 'DATABASE_URL=nonsense', 'RECOGNIZER=foo']) expect(stderr).toContain(fault);
  expect(stdout).toBe('');
});

test.each(['start', 'start-api', 'start-worker'])(
  'src/%s.ts without ffmpeg → says what to install, exit code 1',
  (name) => {
    const env = { PATH: '/nowhere', PORT: '0', OPS_PORT: '0' };
    const { status, stdout } = spawnSync(process.execPath, [`src/${name}.ts`], { cwd: root, env, encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stdout).toContain('ffmpeg was not found. Install it: apt-get install ffmpeg');
  },
);

test('a RECOGNIZER_LANGUAGE that the recognizer does not know → says what it knows, exit code 1', () => {
  const env = { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', RECOGNIZER_LANGUAGE: 'de-AT' };
  const { status, stdout } = spawnSync(process.execPath, ['src/start-worker.ts'], { cwd: root, env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stdout).toContain('RECOGNIZER_LANGUAGE: the recognizer does not know the language de-AT; it knows en');
});

test('a database that refuses the login → one line that says so and names the variable, exit code 1', () => {
  const url = new URL(process.env.TEST_DATABASE_URL!);
  url.password = 'wrong';
  const env = { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', DATABASE_URL: url.href };
  const { status, stdout } = spawnSync(process.execPath, ['src/start-api.ts'], { cwd: root, env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    level: 60,
    msg: expect.stringMatching(/^the database of DATABASE_URL refuses: password authentication failed for user ".*"/),
  });
  expect(stdout).not.toMatch(/wrong|stack/);
});

test('SIGTERM to npm, and not to its children → the service stops in order', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'npm-'));
  const child = spawn('npm', ['run', '--silent', 'start:api'], {
    cwd: root,
    env: { PATH: process.env.PATH, DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0', OPS_PORT: '0' },
    detached: true,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  try {
    await until(() => output.includes('api answers'));
    child.kill('SIGTERM');
    await until(() => output.includes('"stopped"'), Boolean, 30_000);
  } finally {
    // Without it the service would outlive npm where this fails.
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // Nobody of its process group is left.
    }
    await database.drop();
  }
});

const service = await useService();
test.each([
  ['DATABASE_URL', 'DATABASE_DIRECT_URL'],
  ['DATABASE_DIRECT_URL', 'DATABASE_URL'],
])('%s leads nowhere, %s to the server → no start, and the one that fails is named', async (away, there) => {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'nowhere-'));
  const urls = { [away]: `postgres://127.0.0.1:${await steadyPort()}/d`, [there]: service.databaseUrl };
  const env = { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', DATA_DIR: dataDir, ...urls };
  const child = spawn(process.execPath, ['src/start-api.ts'], { cwd: root, env });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(1);
  expect(output).toContain(`"msg":"the database of ${away} can not be reached"`);
});

test('the port is taken → a message that names PORT, exit code 1, and no attempt is spent on what waits', async () => {
  const account = await makeAccount(service.db);
  await service
    .post('/v1/transcriptions', account.key)
    .attach('file', await tone(500), 'a.wav')
    .expect(202);
  const env = {
    ...{ PATH: process.env.PATH, DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir },
    ...{ PORT: String(service.api.port), OPS_PORT: '0' },
  };
  const child = spawn(process.execPath, ['src/start.ts'], { cwd: root, env });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(1);
  expect(output).toContain('is taken. Set PORT to another one.');
  const [row] = await service.db.selectFrom('sessions').select(['status', 'attempt', 'attempts_left']).execute();
  expect(row).toEqual({ status: 'queued', attempt: 0, attempts_left: 3 });
});
