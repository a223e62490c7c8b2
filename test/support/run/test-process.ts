/** Runs test files one after another, by jest's own parts and Node's own module loader. */
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { createEmptyTestResult } from '@jest/test-result';
import * as circus from 'jest-circus';
import { formatResultsErrors } from 'jest-message-util';
import { endAll } from '../at-end.ts';
import { jest } from './jest.ts';
import type { AssertionResult, TestResult } from '@jest/test-result';
import type { Circus } from '@jest/types';
import type { RunSettings } from './native-runner.ts';

const { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } = circus;
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect: jestExpect, it, test });

/** Errors that nobody has caught yet: those of rejections by their promise. */
const uncaught = new Map<unknown, unknown>();
process.on('unhandledRejection', (reason, promise) => void uncaught.set(promise, reason));
process.on('rejectionHandled', (promise) => void uncaught.delete(promise));
process.on('uncaughtException', (error) => void uncaught.set(error, error));

circus.addEventHandler(async ({ name, ...event }) => {
  if (name !== 'test_done') return;
  // Node tells of rejections after the microtasks in which the test ended.
  await setImmediate();
  const { errors, asyncError } = (event as Extract<Circus.Event, { name: 'test_done' }>).test;
  for (const error of takeUncaught()) errors.push([error, asyncError]);
  if (errors.some((error) => String(error).includes('Exceeded timeout')))
    errors.push([`Open when its time was over: ${openResources()}`, asyncError]);
});

function takeUncaught(): unknown[] {
  const errors = [...uncaught.values()];
  uncaught.clear();
  return errors;
}

/** Counted by kind, such as "2 TCPSocketWrap". */
function openResources(): string {
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return [...kinds].map(([kind, all]) => `${all.length} ${kind}`).join(', ');
}

/** Tests of the whole system start, kill and wait for processes: three times as long, ms. */
const timeLimitOf = (path: string, ms: number) => (path.endsWith('.system.test.ts') ? 3 * ms : ms);

/** With `FUZZ_SEED`, generated cases are those of another run with the same. */
async function repeatCases(): Promise<void> {
  const { FUZZ_SEED: seed } = process.env;
  if (seed !== undefined) (await import('fast-check')).default.configureGlobal({ seed: Number(seed) });
}

let filesSoFar = 0;

export async function runFile(path: string, { global, project }: RunSettings): Promise<TestResult> {
  const start = Date.now();
  const timeoutMs = timeLimitOf(path, global.testTimeout ?? 60_000);
  process.env.TEST_TIME_LIMIT_MS = String(timeoutMs);
  await repeatCases();
  circus.resetState();
  Object.assign(circus.getState(), {
    maxConcurrency: global.maxConcurrency,
    testNamePattern: global.testNamePattern === undefined ? null : new RegExp(global.testNamePattern, 'i'),
    testTimeout: timeoutMs,
  });
  jestExpect.setState({ testPath: path, expand: global.expand });
  circus.afterAll(endAll);
  filesSoFar += 1;
  await load(`${pathToFileURL(path).href}?file=${filesSoFar}`, timeoutMs);
  const { testResults, unhandledErrors } = await circus.run();
  jest.useRealTimers();
  jest.restoreAllMocks();
  const ended = Date.now();

  const faults = [...unhandledErrors, ...takeUncaught().map(stackOf)].map(inFiles);
  const results = testResults.map(toAssertion);
  const count = (status: AssertionResult['status']) => results.filter((each) => each.status === status).length;
  const failures = [...faults, formatResultsErrors(results, project, global, path) ?? ''].join('\n').trim();
  const result = createEmptyTestResult();
  return {
    ...result,
    failureMessage: failures === '' ? null : failures,
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    perfStats: { ...result.perfStats, start, end: ended, runtime: ended - start, slow: ended - start > 5_000 },
    ...(faults.length > 0 && { testExecError: { message: '', stack: faults.join('\n') } }),
    testFilePath: path,
    testResults: results,
  };
}

/** @throws what the file throws while it is loaded, or that it takes too long; what it began is ended */
async function load(address: string, withinMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const tooLate = () => late.reject(new Error(`Not loaded within ${withinMs} ms. Open: ${openResources()}`));
  const timer = setTimeout(tooLate, withinMs);
  try {
    await Promise.race([import(address), late.promise]);
  } catch (error) {
    await endAll();
    throw new Error(inFiles(stackOf(error)), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** Modules of test files are named with an address; people and jest's excerpts want the file. */
const inFiles = (stack: string) =>
  stack.replaceAll(/file:\/\/([^?\s)]+?)(\?file=\d+)?(?=[:)\s])/g, (_, path: string) => decodeURI(path));

function toAssertion({ testPath, status, errors, duration, ...result }: Circus.TestResult): AssertionResult {
  const titles = testPath.slice(1).map(String);
  return {
    ancestorTitles: titles.slice(0, -1),
    duration: duration ?? null,
    failureDetails: [],
    failureMessages: errors.map(inFiles),
    fullName: titles.join(' '),
    invocations: result.invocations,
    location: null,
    numPassingAsserts: result.numPassingAsserts,
    status: status === 'done' ? (errors.length === 0 ? 'passed' : 'failed') : 'pending',
    title: titles.at(-1)!,
  };
}
