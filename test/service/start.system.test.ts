/** How a process starts: what it says when it can't, and that `/readyz` tells the truth. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { clientOf } from '../support/clients/client.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { startProcess } from '../support/service/processes.ts';
import { steadyPort } from '../rig/ports.ts';
import { useService } from '../support/service/use-service.ts';
import { until } from '../support/until.ts';
import { tone, voice } from '../support/uploads/uploads.ts';

const root = join(import.meta.dirname, '../..');
const service = await useService();

/** What a process says that ends by itself. */
async function endOf(name: string, env: Record<string, string>) {
  const ports = { PORT: '0', OPS_PORT: '0' };
  const cache = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node') };
  const all = { PATH: process.env.PATH, ...cache, ...ports, ...env };
  const child = spawn(process.execPath, [`src/${name}.ts`], { cwd: root, env: all });
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: status as number, stdout, stderr };
}

const noProgram = { PATH: '/nowhere' };
const wantsProgram = 'ffmpeg was not found. Install it: apt-get install ffmpeg';
const nowhere = `postgres://127.0.0.1:${await steadyPort()}/d`;
test.each([
  ['no ffmpeg', 'start', noProgram, wantsProgram],
  [
    'no model',
    'start-worker',
    { RECOGNIZER: 'sherpa-onnx', SHERPA_ONNX_MODEL: 'whisper-base' },
    'npm run model -- download whisper-base',
  ],
  [
    'DATABASE_URL that leads nowhere',
    'start-api',
    { DATABASE_URL: nowhere, DATABASE_DIRECT_URL: service.databaseUrl },
    '"msg":"the database of DATABASE_URL can not be reached"',
  ],
  [
    'a database that refuses the login',
    'start-api',
    { DATABASE_URL: Object.assign(new URL(service.databaseUrl), { password: 'of-nobody' }).href },
    '"msg":"the database of DATABASE_URL refuses: password authentication failed for user',
  ],
])('%s, src/%s.ts → a last line that says so, exit code 1', async (_, name, env, message) => {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'start-'));
  const { status, stdout } = await endOf(name, { DATA_DIR: dataDir, DATABASE_URL: service.databaseUrl, ...env });
  expect(status).toBe(1);
  const last = stdout.trimEnd().split('\n').at(-1)!;
  expect(last).toContain(message);
  expect(JSON.parse(last)).toMatchObject({ level: 60 });
  expect(stdout).not.toContain('of-nobody');
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

test('the port is taken → a message that names PORT, exit code 1, and no attempt is spent on what waits', async () => {
  const account = await makeAccount(service.db);
  const body = await tone(500);
  const { sessionId } = (
    await service.post('/v1/transcriptions', account.key).attach('file', body, 'a.wav').expect(202)
  ).body as { sessionId: string };
  const own = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
  const { status, stdout } = await endOf('start', { ...own, PORT: String(service.api.port) });
  expect(status).toBe(1);
  expect(stdout).toContain('is taken. Set PORT to another one.');
  const rows = service.db.selectFrom('sessions').select(['status', 'attempt', 'attempts_left']);
  const row = await rows.where('id', '=', sessionId).executeTakeFirst();
  expect(row).toEqual({ status: 'queued', attempt: 0, attempts_left: 3 });
});

test('/readyz asked from the first moment of a start → 503 until the API answers and the worker takes jobs', async () => {
  const account = await makeAccount(service.db);
  const file = join(await mkdtemp(join(process.env.TEST_FOLDER!, 'ready-')), 'voice.wav');
  await writeFile(file, await voice(500));
  const [port, opsPort] = [await steadyPort(), await steadyPort()];
  const { env: hello } = await startHelloServer();
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir, ...hello };
  const started = startProcess('start', { ...env, PORT: String(port), OPS_PORT: String(opsPort) });

  const before = new Set<string>();
  const isReady = async () => {
    const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`).catch(() => undefined);
    const said = answer === undefined ? 'nothing' : `${answer.status} ${await answer.text()}`;
    if (said !== '200 ready\n') before.add(said);
    return said === '200 ready\n';
  };
  await until(isReady);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
  const running = await started;
  expect(running.lines.join('\n')).toContain('worker takes jobs');
  const client = clientOf(running.url, account.key);
  expect(await client.final(await client.accepted(file))).toMatchObject({ status: 'completed' });
  for (const said of before) expect(['nothing', '503 starting\n']).toContain(said);

  expect(await running.stop()).toBe(0);
});

test('the server of RECOGNIZER=openai is away → ready all the same, said by /readyz and by the log', async () => {
  const [away, opsPort] = [await steadyPort(), await steadyPort()];
  const { lines, stop } = await startProcess('start-worker', {
    ...{ DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir, OPS_PORT: String(opsPort) },
    ...{ RECOGNIZER: 'openai', OPENAI_BASE_URL: `http://127.0.0.1:${away}/v1` },
  });
  const message = `127.0.0.1:${away} could not be reached: connect ECONNREFUSED 127.0.0.1:${away}`;
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([200, `ready, but ${message}\n`]);
  const warnings = lines
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ level }) => level === 40);
  expect(warnings.map(({ msg }) => msg)).toEqual([message]);
  expect(await stop()).toBe(0);
});
