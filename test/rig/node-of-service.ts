/** A process of the service on a machine, with what every suite sets for it. */
import { join } from 'node:path';
import { Machine } from './machine.ts';
import type { Place } from './place.ts';

const root = join(import.meta.dirname, '../..');
/** No answer that breaks the contract leaves the process. */
const checkedAnswers = join(root, 'test/support/clients/checked-answers.ts');
const settings = {
  ...{ MIN_FREE_DISK: '0', WORKER_CONCURRENCY: '2' },
  // As `npm start` does: compiling is half of a start.
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
};
/** What it logs when it is at work. */
const ready = { 'start-api': 'api answers', 'start-worker': 'worker takes jobs' } as const;

interface Options {
  /** Its own, which exists: `DATA_DIR`, unless another is set. */
  folder: string;
  /** `OPS_PORT` among it. */
  env: Record<string, string>;
  startsAgain?: boolean;
  /** A program, with its arguments, that becomes the command it is given. */
  wrapper?: string[];
}

export function nodeOfService(place: Place, script: keyof typeof ready, options: Options): Machine {
  const { folder, env, startsAgain = false, wrapper = [] } = options;
  return new Machine(place, {
    command: [...wrapper, process.execPath, '--import', checkedAnswers, join(root, 'src', `${script}.ts`)],
    env: { ...settings, DATA_DIR: folder, ...env },
    ...{ folder, startsAgain, says: ready[script] },
    isUp: () => answers(`http://${place.address}:${env['OPS_PORT']}/readyz`),
  });
}

/** Whether it is well, by what it says there. */
export const answers = async (url: string): Promise<boolean> =>
  (await fetch(url, { signal: AbortSignal.timeout(2_500) })).ok;
