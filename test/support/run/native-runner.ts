/**
 * Jest's runner for this project: a few processes run one test file after another and load the service once. Jest's own
 * runner loads everything anew for each file, in a VM, which costs more time than most files' tests.
 */
import { fileURLToPath } from 'node:url';
import { Worker } from 'jest-worker';
import pLimit from 'p-limit';
import type { SerializableError, Test, TestResult } from '@jest/test-result';
import type { Config } from '@jest/types';

const processFile = new URL('./test-process.ts', import.meta.url);

export interface RunSettings {
  global: Config.GlobalConfig;
  project: Config.ProjectConfig;
}

type TestProcess = typeof import('./test-process.ts');

export default class NativeRunner {
  readonly #global: Config.GlobalConfig;

  constructor(global: Config.GlobalConfig) {
    this.#global = global;
  }

  async runTests(
    tests: Test[],
    watcher: { isInterrupted(): boolean },
    onStart: (test: Test) => Promise<void>,
    onResult: (test: Test, result: TestResult) => Promise<void>,
    onFailure: (test: Test, error: SerializableError) => Promise<void>,
  ): Promise<void> {
    const { runFile, end } = await this.#startProcesses(tests.length);
    const limit = pLimit(this.#global.maxWorkers);
    const run = async (test: Test) => {
      if (watcher.isInterrupted()) return;
      await onStart(test);
      await runFile(test.path, { global: this.#global, project: test.context.config }).then(
        (result) => onResult(test, result),
        (error: SerializableError) => onFailure(test, error),
      );
    };
    await Promise.all(longestFirst(tests).map((test) => limit(() => run(test)))).finally(end);
  }

  /** With one worker (`--runInBand`), or for one file, everything runs here, where a debugger sees it. */
  async #startProcesses(files: number): Promise<TestProcess & { end(): Promise<unknown> }> {
    const { maxWorkers } = this.#global;
    if (maxWorkers === 1 || files === 1) return { ...(await import('./test-process.ts')), end: async () => {} };
    const workers = new Worker(fileURLToPath(processFile), {
      exposedMethods: ['runFile'],
      forkOptions: { serialization: 'advanced', stdio: 'inherit' },
      maxRetries: 0,
      numWorkers: Math.min(maxWorkers, files),
    }) as Worker & TestProcess;
    return { runFile: (...args) => workers.runFile(...args), end: () => workers.end() };
  }
}

/** Jest sorts files by the times that it knows. In a fresh checkout it knows none: tests of the whole system take longest. */
function longestFirst(tests: Test[]): Test[] {
  const isLong = ({ duration, path }: Test) => duration === undefined && path.endsWith('.system.test.ts');
  return [...tests.filter(isLong), ...tests.filter((test) => !isLong(test))];
}
