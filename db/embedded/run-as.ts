import { statSync } from 'node:fs';
import type { Binaries } from './binaries.ts';
import { runProgram } from './run-program.ts';
import { postgresSystemUser } from './system-user.ts';
import type { SystemUser } from './system-user.ts';

/** How to start a program so that PostgreSQL agrees to run: it refuses root. */
export interface RunAs {
  /** Goes in front of the program and its arguments; empty for an ordinary user. */
  readonly prefix: readonly string[];
  /** Who must own PostgreSQL's files, when it is not this process's user. */
  readonly owner: SystemUser | undefined;
}

// From the weakest to the strongest. Containers often have dac_override without dac_read_search.
const capabilities = [undefined, 'dac_read_search', 'dac_override'] as const;

/**
 * Root runs PostgreSQL as the owner of the data or as a system user. Anybody else runs it as himself.
 * @param folder must exist; the data folder may be absent
 * @throws when root can't become that user, or when that user can't reach the folder and the programs
 */
export async function findRunAs(folder: string, dataFolder: string, binaries: Binaries): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { prefix: [], owner: undefined };
  const owner = dataOwner(dataFolder) ?? (await postgresSystemUser());
  let complaint = '';
  for (const capability of capabilities) {
    const prefix = becomeUser(owner, capability);
    // Asks access(2), which PostgreSQL asks about its own programs, too.
    const attempt = ['env', '--chdir', folder, 'test', '-r', binaries.postgres, '-a', '-x', binaries.postgres];
    const { succeeded, output } = await runProgram([...prefix, ...attempt]);
    if (succeeded) return { prefix, owner };
    complaint ||= output || 'permission denied';
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and as user ${owner.uid} it cannot get at ${folder} or ${binaries.postgres} ` +
      `(${complaint}): make both enterable for that user (chmod o+x on the folders above), start as an ordinary user, ` +
      `or set DATABASE_URL to a PostgreSQL of your own`,
  );
}

/** Data that belongs to an ordinary user stays his when root starts the service. */
function dataOwner(dataFolder: string): SystemUser | undefined {
  const stat = statSync(dataFolder, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid };
}

function becomeUser({ uid, gid }: SystemUser, capability: string | undefined): string[] {
  const user = ['setpriv', '--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  if (capability === undefined) return [...user, '--'];
  // PostgreSQL asks access(2) about its own programs. For a user other than root, the kernel ignores capabilities there
  // unless no_setuid_fixup is set.
  const passage = [
    '--securebits',
    '+no_setuid_fixup',
    '--inh-caps',
    `+${capability}`,
    '--ambient-caps',
    `+${capability}`,
  ];
  return [...user, ...passage, '--'];
}
