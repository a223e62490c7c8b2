/** The service as an operator runs it: a process of its own, with children. */
import { join } from 'node:path';
import { Machine } from '../../rig/machine.ts';
import { here } from '../../rig/place.ts';
import { atEnd } from '../at-end.ts';
import { databaseEnvironment } from './pooler.ts';
import type { End } from '../../rig/machine.ts';

const root = join(import.meta.dirname, '../../..');
/** No answer that breaks the contract leaves the process. */
const checked = join(import.meta.dirname, '../clients/checked-answers.ts');
const settings = { PORT: '0', OPS_PORT: '0', MIN_FREE_DISK: '0' };

export interface ServiceProcess {
  pid: number;
  /** Of the API. */
  port: number;
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** Every line that it logged. */
  lines: string[];
  ended: Promise<End>;
  /** SIGTERM. */
  stop(): Promise<End>;
}

/**
 * Starts `src/<script>.ts` in a process group of its own and waits until it answers, or until it logs `ready`; the URL is
 * of use only where the API answers. It is killed after the last test of the file, if it still runs.
 *
 * @param wrapper a program, with its arguments, that becomes the command it is given
 */
export async function startProcess(
  script: 'start' | 'start-api' | 'start-worker',
  env: Record<string, string>,
  ready = script === 'start-worker' ? 'worker takes jobs' : 'api answers',
  wrapper: string[] = [],
): Promise<ServiceProcess> {
  // As `npm start` does: compiling is half of a start.
  const fromNpm = { NODE_COMPILE_CACHE: join(process.env.TEST_FOLDER!, 'compiled') };
  const database = env['DATABASE_URL'] === undefined ? {} : databaseEnvironment(env['DATABASE_URL']);
  const machine = new Machine(here(script), {
    command: [...wrapper, process.execPath, '--import', checked, join(root, 'src', `${script}.ts`)],
    env: { ...fromNpm, ...settings, ...env, ...database },
    ...{ folder: root, says: ready, isUp: async () => true },
  });
  await machine.begin();
  atEnd(() => machine.kill());
  await machine.up();
  const { pid, lines, ended } = machine;
  const { port = 0 } = JSON.parse(lines.find((line) => line.includes(ready))!) as { port?: number };
  return { pid, port, url: `http://127.0.0.1:${port}`, lines, ended, stop: () => machine.stop() };
}
