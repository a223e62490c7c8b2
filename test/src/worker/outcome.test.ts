import { AudioError, AudioToolError } from '../../../src/audio/audio-error.ts';
import { AudioUnreadable } from '../../../src/files/audio-store.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { AttemptTimedOut, classifyFailure, classifyOutcome } from '../../../src/worker/outcome.ts';
import type { Outcome } from '../../../src/worker/outcome.ts';
import type { Fault } from '../../../src/worker/worker-pause.ts';
import type { WorkerContext } from '../../../src/worker/worker-context.ts';

test.each<[string, unknown, Outcome]>([
  ['audio: timed_out', new AudioError('timed_out', ''), { kind: 'retried', code: 'timed_out' }],
  ['stored audio that is damaged', new AudioUnreadable(''), { kind: 'retried', code: 'audio_unreadable' }],
  ['an audio tool that broke', new AudioToolError(''), { kind: 'retried', code: 'recognizer_error' }],
  ['a fault of ours', new TypeError('undefined'), { kind: 'retried', code: 'recognizer_error' }],
])('%s → $kind', (_, error, outcome) => {
  expect(classifyOutcome(error)).toEqual(outcome);
});

const failure = new RecognizerError('recognizer_error', 'something failed', { retryable: true });

/** The pauses after attempts that all end with this fault; undefined for one that counted. */
async function pausesAfter(fault: Fault | undefined, attempts: number, error: Error = failure, lackedRoom = false) {
  const begun: unknown[] = [];
  const worker = {
    checkDependencies: async () => fault,
    pause: { begin: (found: Fault) => begun.push(found), lackedRoomSince: () => lackedRoom },
    log: { warn: () => undefined },
  } as unknown as Pick<WorkerContext, 'checkDependencies' | 'pause' | 'log'>;
  const pauses: (number | undefined)[] = [];
  let free = 0;
  for (let i = 0; i < attempts; i += 1) {
    const attempt = { accountId: 'an account', sessionId: 'a session', attempt: i + 1 };
    const failed = { attempt, claim: { infrastructure_retries: free }, room: { bytes: 0 }, began: 0 };
    const givenBack = await classifyFailure(error, failed, worker);
    if (givenBack?.countsAsInfrastructureRetry) free += 1;
    pauses.push(givenBack?.retryAfterSeconds);
  }
  // The worker waits after each of them, free or not.
  expect(begun).toEqual(fault === undefined ? [] : Array(attempts).fill(fault));
  return pauses;
}

test('a server that is gone after each attempt, as one that crashes on this recording → five are free, then they count', async () => {
  const pauses = await pausesAfter({ reason: 'server', message: 'gone' }, 8);
  expect(pauses).toEqual([5, 20, 80, 300, 300, undefined, undefined, undefined]);
});

test('the time is over while the server had no room, or when it has some again → free; else it counts', async () => {
  const busy: Fault = { reason: 'busy', message: '429' };
  expect(await pausesAfter(busy, 2, new AttemptTimedOut(), true)).toEqual([5, 20]);
  expect(await pausesAfter(undefined, 2, new AttemptTimedOut(), true)).toEqual([5, 20]);
  expect(await pausesAfter(undefined, 1, new AttemptTimedOut())).toEqual([undefined]);
});
