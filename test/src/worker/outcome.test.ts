import { AudioError, AudioToolError } from '../../../src/audio/audio-error.ts';
import { AudioUnreadable } from '../../../src/files/audio-store.ts';
import { LanguageNotKnown, RecognizerError } from '../../../src/recognizers/recognizer.ts';
import {
  ClaimLostError,
  InsufficientBalanceError,
  AttemptTimedOut,
  classifyFailure,
  classifyOutcome,
} from '../../../src/worker/outcome.ts';
import type { Outcome } from '../../../src/worker/outcome.ts';
import type { Fault } from '../../../src/worker/worker-pause.ts';
import type { WorkerContext } from '../../../src/worker/worker-context.ts';

const recognizerError = (code: 'recognizer_error' | 'timed_out', retryable: boolean) =>
  new RecognizerError(code, 'as the test says', { retryable });

test.each<[string, unknown, Outcome]>([
  ['ClaimLostError', new ClaimLostError(), { kind: 'claim_lost' }],
  ['InsufficientBalanceError', new InsufficientBalanceError(), { kind: 'failed', code: 'insufficient_balance' }],
  ['AttemptTimedOut', new AttemptTimedOut(), { kind: 'retried', code: 'timed_out' }],
  ['audio: unsupported_media', new AudioError('unsupported_media', ''), { kind: 'failed', code: 'unsupported_media' }],
  ['audio: no_audio_track', new AudioError('no_audio_track', ''), { kind: 'failed', code: 'no_audio_track' }],
  ['audio: audio_too_long', new AudioError('audio_too_long', ''), { kind: 'failed', code: 'audio_too_long' }],
  ['audio: timed_out', new AudioError('timed_out', ''), { kind: 'retried', code: 'timed_out' }],
  ['stored audio that is damaged', new AudioUnreadable(''), { kind: 'retried', code: 'audio_unreadable' }],
  ['an audio tool that broke', new AudioToolError(''), { kind: 'retried', code: 'recognizer_error' }],
  ['recognizer, now', recognizerError('recognizer_error', true), { kind: 'retried', code: 'recognizer_error' }],
  ['recognizer, always', recognizerError('recognizer_error', false), { kind: 'failed', code: 'recognizer_error' }],
  ['recognizer: timed_out', recognizerError('timed_out', true), { kind: 'retried', code: 'timed_out' }],
  [
    'recognizer: another language',
    new LanguageNotKnown('de', ['en']),
    { kind: 'failed', code: 'language_not_supported', knownLanguages: ['en'] },
  ],
  ['a fault of ours', new TypeError('undefined'), { kind: 'retried', code: 'recognizer_error' }],
  ['something that is no error', 'thrown', { kind: 'retried', code: 'recognizer_error' }],
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

test('a full disk → every attempt is free, and the session goes back at once', async () => {
  expect(await pausesAfter({ reason: 'disk', message: 'full' }, 7)).toEqual(Array(7).fill(0));
});

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

test('a server without room → every attempt is free', async () => {
  expect(await pausesAfter({ reason: 'busy', message: '429' }, 7)).toEqual(Array(7).fill(0));
});

test('nothing is wrong besides → each attempt counts', async () => {
  expect(await pausesAfter(undefined, 2)).toEqual([undefined, undefined]);
});
