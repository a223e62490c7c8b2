import { runProgram } from './run-program.ts';

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

const ownUser = 'transcription-postgres';

async function lookUp(name: string): Promise<SystemUser | undefined> {
  const { succeeded, output } = await runProgram(['getent', 'passwd', name]);
  if (!succeeded) return undefined;
  const [, , uid, gid] = output.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * The user as whom root runs PostgreSQL: `postgres` where the system has it, otherwise one of our own, which is created
 * when it is first needed.
 * @throws when there is none and none can be created
 */
export async function postgresSystemUser(): Promise<SystemUser> {
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
