/** Who works with the command, for the log of what support did. It is taken on trust: whoever may type it may type any name. */
import { userInfo } from 'node:os';
import { text } from './arguments.ts';
import { Mistake } from '../terminal/mistake.ts';

/**
 * The name that was typed (`--as`) or set (`ADMIN_AS`), and the user of the operating system.
 *
 * @throws {Mistake} when `ADMIN_AS` is no name
 */
export function whoWorks(typed: string | undefined, env: NodeJS.ProcessEnv): string {
  const user = userOfSystem(env);
  const named = typed ?? nameIn(env['ADMIN_AS']);
  return named === undefined || named === user ? user : `${named} (${user})`;
}

function nameIn(setting: string | undefined): string | undefined {
  if (setting === undefined || setting === '') return undefined;
  try {
    return text(setting);
  } catch (error) {
    throw new Mistake(`ADMIN_AS is no name. ${(error as Error).message}`);
  }
}

/** Below sudo, who typed it. In a container, users may have no names. */
function userOfSystem(env: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0 && env['SUDO_USER']) return env['SUDO_USER'];
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
