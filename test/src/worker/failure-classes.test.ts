/** Which attempts are free, by what was found to be wrong after them. */
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { classifyFailure } from '../../../src/worker/failure-classes.ts';
import type { Fault } from '../../../src/worker/faults.ts';
import type { WorkerContext } from '../../../src/worker/worker-context.ts';

const failure = new RecognizerError('recognizer_error', 'something failed', { retryable: true });

/** The pauses after attempts that all end with this fault; undefined for one that counted. */
async function pausesAfter(fault: Fault | undefined, attempts: number): Promise<(number | undefined)[]> {
  const begun: unknown[] = [];
  const worker = {
    faultNow: async () => fault,
    pause: { begin: (found: Fault) => begun.push(found) },
    log: { warn: () => undefined },
  } as unknown as Pick<WorkerContext, 'faultNow' | 'pause' | 'log'>;
  const pauses: (number | undefined)[] = [];
  let free = 0;
  for (let i = 0; i < attempts; i += 1) {
    const attempt = { accountId: 'an account', sessionId: 'a session', attempt: i + 1 };
    const failed = { attempt, claim: { free_attempts: free }, room: { neededBytes: 0 } };
    const givenBack = await classifyFailure(failure, failed, worker);
    if (givenBack?.spendsFreeAttempt) free += 1;
    pauses.push(givenBack?.comesAgainAfterSeconds);
  }
  // The worker waits after each of them, free or not.
  expect(begun).toEqual(fault === undefined ? [] : Array(attempts).fill(fault));
  return pauses;
}

test('a full disk → every attempt is free, and the session goes back at once', async () => {
  expect(await pausesAfter({ reason: 'disk', message: 'full' }, 7)).toEqual(Array(7).fill(0));
});

test('a server that is gone after each attempt, as one that crashes on this recording → five are free, then they count', async () => {
  const pauses = await pausesAfter({ reason: 'server', message: 'gone' }, 8);
  expect(pauses).toEqual([5, 20, 80, 300, 300, undefined, undefined, undefined]);
});

test('nothing is wrong besides → each attempt counts', async () => {
  expect(await pausesAfter(undefined, 2)).toEqual([undefined, undefined]);
});
