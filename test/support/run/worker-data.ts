import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// That of `npm start`. Whatever a process of the run loads is stripped of types and compiled once for all of them.
enableCompileCache(join(import.meta.dirname, '../../../node_modules/.cache/node'));

/**
 * Keeps what a worker process of jest-light-runner is told before it asks. Version 0.8.2 answers all processes when the
 * first one asks, and none of them twice: one that was not ready to hear it would wait for ever. Imported by every
 * process of a run.
 */
interface Told {
  type?: string;
}

const { send } = process;
let told: Told | undefined;

if (send !== undefined) {
  process.on('message', (message: Told) => {
    if (message?.type === 'jest-light-runner-worker-data') told = message;
  });
  process.send = (message: unknown, ...rest: unknown[]): boolean => {
    if (message !== 'jest-light-runner-get-worker-data' || told === undefined)
      return Reflect.apply(send, process, [message, ...rest]);
    setImmediate(() => process.emit('message', told, undefined));
    return true;
  };
}
