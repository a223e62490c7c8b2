/**
 * `node scripts/release/main.ts FOLDER`: keeps a data folder of the version of the service in FOLDER for the tests, below
 * `test/released/`. It starts that version on its embedded PostgreSQL, as an operator would, and uses it as customers and support
 * do: through npm's scripts and over HTTP, which later versions have, too. Needs pg_dump of the embedded PostgreSQL's major version.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { answersAbout } from './answers.ts';
import { ReleasedService } from './released-service.ts';
import { makeRecordings } from './recordings.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

if (process.argv.length !== 3) {
  console.error(
    'Type: node scripts/release/main.ts FOLDER, where FOLDER holds the released version, after "npm ci" in it.',
  );
  process.exit(2);
}
const release = resolve(process.argv[2]!);
const { version } = JSON.parse(await readFile(join(release, 'package.json'), 'utf8')) as { version: string };
// Others may pass through it: root's PostgreSQL runs as another user.
const scratch = await mkdtemp(join(tmpdir(), 'release-'));
const dataDir = join(scratch, 'data');
await mkdir(dataDir, { mode: 0o711, recursive: true });
await run('chmod', ['711', scratch]);

const service = new ReleasedService(release, dataDir);
try {
  await service.startApi();
  const { spoken, silent, long } = await makeRecordings(scratch);
  const canceled = await service.upload(spoken);
  await service.admin('sessions', 'cancel', canceled);
  const completed = [await service.upload(spoken), await service.upload(silent)];
  await service.startWorker();
  for (const session of completed) await service.waitFor(session, 'completed');
  // A crash in the middle of it: nobody is told, and its job goes on to look taken.
  const processing = await service.upload(long);
  await service.waitFor(processing, 'processing');
  service.killWorker();
  const queued = await service.upload(spoken);

  const to = join(root, 'test/released', version);
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  const answers = await answersAbout(service, { canceled, completed, processing, queued });
  await writeFile(join(to, 'answers.json'), `${JSON.stringify({ version, ...answers }, null, 2)}\n`);
  await writeFile(join(to, 'database.sql'), await dump());
  await cp(join(dataDir, 'audio'), join(to, 'audio'), { recursive: true });
  await run('node', ['node_modules/.bin/prettier', '--write', join(to, 'answers.json')], { cwd: root });
  console.log(`${to} was made.`);
} finally {
  await service.stop();
  await rm(scratch, { recursive: true, force: true });
}

/** As statements that need no psql: of its own commands, which begin with a backslash, there are two to leave out. */
async function dump(): Promise<string> {
  const command = ['scripts/admin/main.ts', 'database', 'run', '--', 'pg_dump', '--inserts', '--no-owner'];
  const env = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: '' };
  const { stdout } = await run(process.execPath, command, { cwd: root, env, maxBuffer: 2 ** 26 });
  return stdout.replaceAll(/^\\.*\n/gm, '');
}
