/** The service as an operator runs it: a process of its own, with children. */
import { join } from 'node:path';
import { Machine } from '../../rig/machine.ts';
import { atEnd } from '../at-end.ts';
import type { Program } from '../../rig/machine.ts';

const root = join(import.meta.dirname, '../../..');
/** No answer that breaks the contract leaves the process. */
const checked = join(import.meta.dirname, '../clients/checked-answers.ts');
const settings = { PORT: '0', OPS_PORT: '0', MIN_FREE_DISK: '0' };

export type ServiceProcess = Awaited<ReturnType<typeof startProcess>>;

type Script = 'start' | 'start-api' | 'start-worker';
const ready = { start: 'api answers', 'start-api': 'api answers', 'start-worker': 'worker takes jobs' };

/**
 * `src/<script>.ts` as a program that a test starts and ends as it likes. It is killed after the last test of the file, if
 * it still runs.
 *
 * @param wrapper a program, with its arguments, that becomes the command it is given
 */
export function machineOf(
  script: Script,
  env: Record<string, string>,
  program: Partial<Program> = {},
  wrapper: string[] = [],
): Machine {
  // As `npm start` does: compiling is half of a start.
  const fromNpm = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node') };
  const machine = new Machine(script, {
    command: [...wrapper, process.execPath, '--import', checked, join(root, 'src', `${script}.ts`)],
    env: { ...fromNpm, ...settings, ...env },
    ...{ folder: root, says: ready[script], isUp: async () => true, ...program },
  });
  atEnd(() => machine.kill());
  return machine;
}

/**
 * Starts `src/<script>.ts` in a process group of its own and waits until it answers, or until it logs `says`; the URL is
 * of use only where the API answers. It is killed after the last test of the file, if it still runs.
 */
export async function startProcess(
  script: Script,
  env: Record<string, string>,
  says = ready[script],
  wrapper: string[] = [],
) {
  const machine = machineOf(script, env, { says }, wrapper);
  await machine.start();
  const { pid, lines, ended } = machine;
  const { port = 0 } = JSON.parse(lines.find((line) => line.includes(says))!) as { port?: number };
  return { pid, port, url: `http://127.0.0.1:${port}`, lines, ended, stop: () => machine.stop() };
}

/** Whether a process says on its OPS_PORT that it does its work. */
export const isReady = async (opsPort: string, host = '127.0.0.1'): Promise<boolean> =>
  (await fetch(`http://${host}:${opsPort}/readyz`, { signal: AbortSignal.timeout(2_500) })).ok;
