/**
 * PgBouncer 1.21 or newer: that of the machine, or one that is built once from Debian's newer sources. That needs what
 * `scripts/install` installs for every suite.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { notRun } from '../rig/suite.ts';

const folder = join(import.meta.dirname, '../../.data/pgbouncer');
/** The Debian that has it. */
const suite = 'trixie';
const longestMs = 5 * 60_000;

/** Ends the command where it can not be built. @returns where the program is */
export async function pgBouncer(): Promise<string> {
  if (await isNewEnough('pgbouncer')) return 'pgbouncer';
  const program = join(folder, 'pgbouncer');
  try {
    if (await isNewEnough(program)) return program;
    // Its build does not bear a space in the path of the project.
    const sources = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
    await build(sources, program).finally(() => rm(sources, { recursive: true, force: true }));
    return program;
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    const last = stderr.trim().split('\n').at(-1);
    return notRun(`PgBouncer 1.21 or newer is not here, and was not built: ${last || String(code ?? error)}`);
  }
}

async function isNewEnough(program: string): Promise<boolean> {
  try {
    const { stdout } = await run(program, ['--version']);
    const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
    return Number(major) > 1 || Number(minor) >= 21;
  } catch {
    return false;
  }
}

/** Without its source in apt's own lists, which stay as they are. */
async function build(sources: string, program: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const part of ['lists/partial', 'cache/archives/partial']) await mkdir(join(sources, part), { recursive: true });
  await ownApt(sources);
  await run('apt-get', [...asked(sources), 'source', '--download-only', 'pgbouncer'], sources);
  await run('sh', ['-c', 'tar -xzf pgbouncer_*.orig.tar.gz --strip-components=1'], sources);
  // Passwords are compared by it alone; nothing here is encrypted.
  await run('./configure', ['--without-openssl', '--without-cares'], sources);
  await run('make', [`-j${availableParallelism()}`, 'pgbouncer'], sources);
  await run('mv', ['pgbouncer', program], sources);
}

/** The mirror is that of the machine. */
async function ownApt(sources: string): Promise<void> {
  const { stdout } = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']);
  const mirror = stdout.split('\n').find((uri) => /\/debian\/$/.test(uri));
  if (mirror === undefined) throw new Error('apt knows no mirror of Debian');
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  await writeFile(join(sources, 'sources.list'), `deb-src [signed-by=${keyring}] ${mirror} ${suite} main\n`);
  await run('apt-get', [...asked(sources), 'update'], sources);
}

const asked = (sources: string) => [
  ...['-o', `Dir::Etc::SourceList=${sources}/sources.list`, '-o', 'Dir::Etc::SourceParts=-'],
  ...['-o', `Dir::State::Lists=${sources}/lists`, '-o', `Dir::Cache=${sources}/cache`, '-o', 'APT::Sandbox::User=root'],
];

function run(program: string, args: string[], cwd?: string) {
  return promisify(execFile)(program, args, { ...(cwd && { cwd }), timeout: longestMs, maxBuffer: 64 * 2 ** 20 });
}
