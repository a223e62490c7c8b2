/** What the command of every suite does: explains itself, says what it can not run here, bears ^C, and ends with a verdict. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { killAllMachines } from './machine.ts';

export const tell = (line: string): void => void process.stderr.write(`${line}\n`);

/** Ends the command when somebody asked for help, or gave a number that is none. */
export function explain(usage: string, wantsHelp: boolean, numbers: readonly number[], least = 1): void {
  const isGood = numbers.every((number) => Number.isInteger(number) && number >= least);
  if (isGood && !wantsHelp) return;
  tell(usage);
  process.exit(wantsHelp ? 0 : 2);
}

/** In the form that `.ci/run` looks for. */
export const sayNotRun = (why: string): void => console.log(`not run: ${why}`);

/** Ends the command of a suite for which something is missing on this machine. */
export function notRun(why: string): never {
  sayNotRun(why);
  process.exit(0);
}

/**
 * Ends the command where one of them is not installed.
 * @param programs and the Debian packages that bring them
 */
export async function requirePrograms(programs: Record<string, string>): Promise<void> {
  const isMissing = (program: string) =>
    promisify(execFile)('sh', ['-c', `command -v ${program}`]).then(
      () => false,
      () => true,
    );
  const missing: string[] = [];
  for (const [program, debianPackage] of Object.entries(programs))
    if (await isMissing(program)) missing.push(debianPackage);
  if (missing.length > 0) notRun(`not installed, of Debian's packages: ${missing.join(', ')}`);
}

/** Aborts at the first signal that asks the command to end. No program outlives the command. */
export function interruption(): AbortSignal {
  process.on('exit', killAllMachines);
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort());
  return interrupted.signal;
}
