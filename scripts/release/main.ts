/**
 * `node scripts/release/main.ts FOLDER`: keeps a data folder of the version of the service in FOLDER for the tests, below
 * `test/released/`. It starts that version on its embedded PostgreSQL, as an operator would, and uses it as customers and support
 * do: through npm's scripts and over HTTP, which later versions have, too. Needs pg_dump of the embedded PostgreSQL's major version.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { librivoxClips } from '../bench/spoken-clips.ts';
import { ReleasedService } from './released-service.ts';
import type { Answers } from './released-service.ts';

const run = promisify(execFile);

async function keepRelease(release: string): Promise<void> {
  const { version } = JSON.parse(await readFile(join(release, 'package.json'), 'utf8')) as { version: string };
  const scratch = await mkdtemp(join(tmpdir(), 'release-'));
  const dataDir = join(scratch, 'data');
  await mkdir(dataDir);
  // Root's PostgreSQL runs as another user, who has to pass through them.
  for (const folder of [scratch, dataDir]) await chmod(folder, 0o711);

  const service = new ReleasedService(release, dataDir);
  try {
    await service.start();
    const answers = await useAsCustomers(service, scratch);
    const dump = ['scripts/admin/main.ts', 'database', 'run', '--', 'pg_dump', '--inserts', '--no-owner'];
    const env = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: '' };
    const { stdout } = await run(process.execPath, dump, { cwd: release, env, maxBuffer: 2 ** 26 });
    // Statements that need no psql: of its own commands, which begin with a backslash, there are two to leave out.
    const sql = stdout.replaceAll(/^\\.*\n/gm, '');

    const to = resolve(import.meta.dirname, '../../test/released', version);
    await rm(to, { recursive: true, force: true });
    await mkdir(to, { recursive: true });
    await writeFile(join(to, 'answers.json'), `${JSON.stringify(answers, null, 2)}\n`);
    await writeFile(join(to, 'database.sql.gz'), gzipSync(sql, { level: 9 }));
    await cp(join(dataDir, 'audio'), join(to, 'audio'), { recursive: true });
    console.log(`${to} was made.`);
  } finally {
    await service.stop();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function useAsCustomers(service: ReleasedService, folder: string): Promise<Answers> {
  const clips = (await librivoxClips()).map(({ file }) => file);
  const record = async (name: string, ...from: string[]) => {
    const file = join(folder, name);
    await run('ffmpeg', ['-hide_banner', '-loglevel', 'error', ...from, '-c:a', 'libopus', '-b:a', '16k', file]);
    return file;
  };
  const spoken = await record('spoken.opus', '-i', clips[0]!);
  const silent = await record('silent.opus', '-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono', '-t', '2');
  const all = clips.flatMap((file) => ['-i', file]);
  const long = await record('long.opus', ...all, '-filter_complex', `concat=n=${clips.length}:v=0:a=1`);

  const canceled = await service.upload(spoken);
  await service.admin('sessions', 'cancel', canceled);
  const completed = [await service.upload(spoken), await service.upload(silent)];
  const killWorker = await service.startWorker();
  for (const session of completed) await service.waitFor(session, 'completed');
  // A crash in the middle of it: nobody is told, and its job goes on to look taken.
  const processing = await service.upload(long);
  await service.waitFor(processing, 'processing');
  killWorker();
  const unfinished = [processing, await service.upload(spoken)];

  const sessions: Answers['sessions'] = [];
  const transcripts: Answers['transcripts'] = [];
  for (const id of [canceled, ...completed, ...unfinished]) {
    sessions.push(await service.get(`/sessions/${id}`));
    if (!unfinished.includes(id)) transcripts.push(await service.get(`/sessions/${id}/transcript?include=words`));
  }
  return {
    madeAt: new Date().toISOString(),
    accountId: service.accountId,
    key: service.key,
    balance: await service.admin('balance', 'show', service.accountId),
    sessions,
    transcripts,
    unfinished,
  };
}

if (process.argv.length === 3) await keepRelease(resolve(process.argv[2]!));
else console.error('Type: node scripts/release/main.ts FOLDER, with the released version after "npm ci" in it.');
