/** What jest-light-runner leaves to us: limits of time, errors that nobody caught, and an end to what a file began. */
import { setImmediate } from 'node:timers/promises';
import { addEventHandler } from 'jest-circus';
import { endAll } from '../at-end.ts';
import { timeLimitMs } from '../until.ts';
import { jest } from './jest.ts';

type Work = () => unknown;

/** The real ones, whatever clock a test holds. */
const { setTimeout, clearTimeout } = globalThis;

// With `FUZZ_SEED`, generated cases are those of another run with the same.
const { FUZZ_SEED: seed } = process.env;
if (seed !== undefined) (await import('fast-check')).default.configureGlobal({ seed: Number(seed) });

/** Errors that nobody has caught yet: those of rejections by their promise. */
const uncaught = new Map<unknown, unknown>();
process.on('unhandledRejection', (reason, promise) => void uncaught.set(promise, reason));
process.on('rejectionHandled', (promise) => void uncaught.delete(promise));
process.on('uncaughtException', (error) => void uncaught.set(error, error));

addEventHandler(({ name }, { currentDescribeBlock, rootDescribeBlock }) => {
  if (name !== 'add_test' && name !== 'add_hook') return;
  const added = (name === 'add_test' ? currentDescribeBlock.tests : currentDescribeBlock.hooks).at(-1)!;
  added.fn = guarded(added.fn as Work, added.timeout ?? timeLimitMs());

  // After the hooks of the file's own.
  const own = rootDescribeBlock.hooks.filter(({ fn }) => fn !== endFile);
  const end = { type: 'afterAll' as const, fn: endFile, parent: rootDescribeBlock };
  rootDescribeBlock.hooks = [...own, { ...end, asyncError: new Error(), seenDone: false, timeout: undefined }];
});

const endFile = guarded(async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  await endAll();
});

/** Fails by an error that nobody caught meanwhile, and when it takes longer than it may. */
function guarded(work: Work, ms = timeLimitMs()): () => Promise<void> {
  return async () => {
    const late = Promise.withResolvers<never>();
    const tooLate = () => late.reject(new Error(`Exceeded timeout of ${ms} ms. Open: ${openResources()}`));
    const timer = setTimeout(tooLate, ms);
    try {
      await Promise.race([work(), late.promise]);
      // Node tells of rejections after the microtasks in which the test ended.
      await setImmediate();
      for (const error of uncaught.values()) throw error;
    } finally {
      uncaught.clear();
      clearTimeout(timer);
    }
  };
}

/** Counted by kind, such as "2 TCPSocketWrap". */
function openResources(): string {
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return [...kinds].map(([kind, all]) => `${all.length} ${kind}`).join(', ');
}
