/** From stored audio to a transcript: decodes it, makes sure that it is paid for, and recognizes it. */
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { availableMs, changeReserved } from '../../db/accounts/accounts.ts';
import { confirmShortIfProcessing, setReservationIfProcessing } from '../../db/sessions/attempts.ts';
import { versionOf } from '../../db/sessions/transcripts.ts';
import { AudioError, AudioToolError } from '../audio/audio-error.ts';
import { decodeWhole } from '../audio/decode.ts';
import { chooseTrack, countChannels, mostChannels } from '../audio/tracks.ts';
import { findLeaks } from '../audio/leaks.ts';
import { withPauses } from '../audio/chunks.ts';
import { totalMs } from '../audio/spans.ts';
import { DependencyError } from '../ops/dependency-error.ts';
import { joinChannels } from '../recognizers/whole-recording.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizers/recognizer.ts';
import { meanProgress } from '../recognizers/all-or-abort.ts';
import { beginSpan, inSpan } from '../tracing/tracing.ts';
import { ClaimLostError, InsufficientBalanceError } from './outcome.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Attempt, Claim } from '../../db/sessions/attempts.ts';
import type { Warning } from '../../db/sessions/warning.ts';
import type { AudioWarning, DecodeOptions } from '../audio/decode.ts';
import type { Span } from '../audio/chunks.ts';
import type { Hints, Transcript, UncertainStretch } from '../recognizers/recognizer.ts';
import type { StoredTranscript } from '../sessions/completion.ts';
import type { TraceSpan } from '../tracing/tracing.ts';
import type { WorkerContext } from './worker-context.ts';

export interface TranscriptionOptions {
  timeLimitMs: number;
  signal: AbortSignal;
  /** Of the attempt. */
  span: TraceSpan;
}

/** What was recognized in one channel, or in the mix of all. */
interface Heard {
  transcript: Transcript;
  durationMs: number;
  audioWarnings: AudioWarning[];
  /** Where words may be missing, or wrong. */
  uncertain: UncertainStretch[];
  /** What is reserved for it now. */
  reservedMs: number;
  /** Another track with sound, where there is one. */
  otherTrack: () => Promise<number | undefined>;
}

/**
 * Recognizes the mix of all channels, or one channel after the other, so that the disk holds one at a time. All channels
 * are listened to before, to know what leaks over from one into another.
 * @returns what is to be stored, and what is reserved for it now, in ms
 * @throws {AudioError} {AudioToolError} {RecognizerError} {InsufficientBalanceError} {ClaimLostError}
 * @throws {AudioStoreUnavailable}
 * @throws the abort reason of `options.signal`
 */
export async function transcribeRecording(
  attempt: Attempt,
  claim: Claim,
  options: TranscriptionOptions,
  worker: WorkerContext,
): Promise<{ stored: StoredTranscript; reservedMs: number }> {
  const { timeLimitMs, signal } = options;
  const wanted = { to: worker.workFolder.uploadPath(attempt), bytes: claim.audio_bytes ?? undefined, signal };
  const input = await worker.audioStore.fetch(attempt.accountId, attempt.sessionId, wanted);
  const output = worker.workFolder.path(attempt);
  const decoding = { input, output, maxDurationMs: claim.max_audio_ms, timeLimitMs, signal };
  const onProgress = (percent: number) => void worker.progress.set(attempt, percent);
  const stored = ({ reservedMs, transcript, durationMs, audioWarnings, uncertain }: Heard) => {
    const language = claim.language ?? transcript.language;
    const warnings = warningsOf(audioWarnings, uncertain);
    // What was refused in one channel is not charged, although others were heard there.
    const refused = uncertain.filter(({ why }) => why === 'refused').sort((a, b) => a.startMs - b.startMs);
    const unheardMs = totalMs(withPauses(refused, 0));
    return { stored: toStoredTranscript({ ...transcript, language }, durationMs, warnings, unheardMs), reservedMs };
  };
  if (!claim.separate_channels) {
    const heard = await transcribeChannel(attempt, claim, { ...options, decoding, onProgress }, worker);
    const track = heard.transcript.segments.length > 0 ? undefined : await heard.otherTrack();
    if (track === undefined) return stored(heard);
    const now = { ...claim, reserved_ms: heard.reservedMs };
    const listening = { ...options, decoding: { ...decoding, track }, onProgress };
    const other = await transcribeChannel(attempt, now, listening, worker);
    // Without a word in either, the first one counts.
    return stored(other.transcript.segments.length > 0 ? other : { ...heard, reservedMs: other.reservedMs });
  }

  const { track, channels: count } = await countChannels({ input, timeLimitMs, signal });
  if (count > mostChannels) throw new AudioError('too_many_channels', `${count} channels`);
  const progressOf = meanProgress(count, onProgress);
  const listen = () => findLeaks({ ...decoding, track }, count);
  const leaks = await worker.decoding.run(attempt.accountId, listen, signal);
  const channels: Heard[] = [];
  for (let channel = 1; channel <= count; channel += 1) {
    const ofChannel = progressOf(channel - 1);
    const listening = { ...decoding, track, channel, silenced: leaks[channel - 1] };
    const now = { ...claim, reserved_ms: channels.at(-1)?.reservedMs ?? claim.reserved_ms };
    const one = await transcribeChannel(
      attempt,
      now,
      { ...options, onProgress: ofChannel, decoding: listening },
      worker,
    );
    channels.push(one);
    if (one.durationMs !== channels[0]!.durationMs)
      throw new AudioToolError(`channel ${channel} is ${one.durationMs} ms, not ${channels[0]!.durationMs}`);
    if (channel < count) ofChannel(100);
  }
  return stored({
    ...channels.at(-1)!,
    transcript: joinChannels(channels.map(({ transcript }) => transcript)),
    audioWarnings: channels.flatMap(({ audioWarnings }) => audioWarnings),
    uncertain: channels.flatMap(({ uncertain }) => uncertain),
  });
}

/** A log line has room for so many. */
const mostStretches = 20;

/** @param options without track and channel, `decodeWhole` finds what to listen to */
async function transcribeChannel(
  attempt: Attempt,
  claim: Claim,
  {
    signal,
    span,
    onProgress,
    decoding,
  }: TranscriptionOptions & { onProgress: (percent: number) => void; decoding: DecodeOptions },
  worker: WorkerContext,
): Promise<Heard> {
  const { db, recognizer, metrics } = worker;
  const decode = () => inSpan(beginSpan('decode', {}, span), () => decodeWhole(decoding, claim.measured_ms));
  const decoded = await worker.decoding.run(attempt.accountId, decode, signal);
  const { durationMs, silences, isConfirmedShort, isDoubtful, warnings } = decoded;
  if (isConfirmedShort) await confirmShortIfProcessing(db, attempt);
  const reservedMs = await extendReservation(db, attempt, claim.reserved_ms, durationMs);
  const began = performance.now();
  const uncertain: UncertainStretch[] = isDoubtful ? [{ startMs: 0, endMs: durationMs, why: 'doubtful words' }] : [];
  const onUncertain = (stretch: UncertainStretch) => void uncertain.push(stretch);
  const hints = hintsOf(claim, worker);
  const recognizing = beginSpan('recognize', { attributes: { 'transcription.recognizer': recognizer.name } }, span);
  const transcript = await inSpan(recognizing, (span) =>
    recognizer.recognize(
      { file: decoding.output, durationMs, silences },
      { ...hints, owner: attempt.accountId, signal, span, onProgress, onUncertain },
    ),
  ).catch((error: unknown) => {
    throw hints.isLanguageExpected && error instanceof LanguageNotKnown ? ofTheOperator(error) : error;
  });
  if (durationMs > 0) metrics.realTimeFactor.observe((performance.now() - began) / durationMs);
  if (uncertain.length > 0) {
    const stretches = uncertain.slice(0, mostStretches);
    worker.log.warn({ count: uncertain.length, stretches }, 'stretches of speech that may lack words');
  }
  const otherTrack = () => chooseTrack(decoding, decoded.tracks, [decoded.track]);
  return { transcript, durationMs, audioWarnings: warnings, uncertain, reservedMs, otherTrack };
}

/** The client asked for no language, so its session is not refused for one. */
const ofTheOperator = ({ message }: LanguageNotKnown) => {
  const cause = new DependencyError(`RECOGNIZER_LANGUAGE: ${message}`);
  return new RecognizerError('recognizer_error', cause.message, { retryable: true, cause });
};

function hintsOf({ language, speakers, keyterms, separate_channels }: Claim, { config }: WorkerContext): Hints {
  return {
    language: language ?? config.recognizerLanguage,
    isLanguageExpected: language === null,
    // Nobody says in which channel they speak.
    speakers: separate_channels ? undefined : (speakers ?? undefined),
    keyterms: keyterms ?? undefined,
  };
}

/**
 * How much longer than its reservation decoded audio may be before the balance is looked at again: 1 % and one second,
 * but never more than the reservation itself. Without that bound, a balance of 1 ms would pay for any number of files
 * that measure about 0 ms.
 */
const toleranceMs = (reservedMs: number) => Math.min(reservedMs, reservedMs * 0.01 + 1000);

/**
 * Makes sure that the decoded duration is reserved before anything is recognized.
 *
 * @returns what is reserved now, in ms
 * @throws {InsufficientBalanceError} nothing was changed
 * @throws {ClaimLostError} nothing was changed
 */
async function extendReservation(db: Db, attempt: Attempt, reservedMs: number, decodedMs: number): Promise<number> {
  if (decodedMs <= reservedMs + toleranceMs(reservedMs)) return reservedMs;
  const missingMs = decodedMs - reservedMs;
  await inAccountTransaction(db, attempt.accountId, async (trx, account) => {
    if (account === undefined || !(await setReservationIfProcessing(trx, attempt, decodedMs)))
      throw new ClaimLostError();
    if (availableMs(account) < missingMs) throw new InsufficientBalanceError();
    await changeReserved(trx, attempt.accountId, missingMs);
  });
  return decodedMs;
}

/** The contract has room for so many, and for the other warnings. */
const mostWarnings = 50;

/**
 * @param audio of each channel, so some may come twice
 * @param uncertain stretches in any order. Where there are too many, near ones become one, so that none is kept back.
 */
export function warningsOf(audio: readonly AudioWarning[], uncertain: readonly Span[]): Warning[] {
  const inOrder = uncertain.toSorted((a, b) => a.startMs - b.startMs);
  let stretches = withPauses(inOrder, 0);
  for (let pauseMs = 1_000; stretches.length > mostWarnings; pauseMs *= 2) stretches = withPauses(inOrder, pauseMs);
  return [
    ...[...new Set(audio)].map((code) => ({ code })),
    ...stretches.map((stretch) => ({ code: 'speech_uncertain' as const, ...stretch })),
  ];
}

/**
 * A transcript in the form in which it is stored: segments as the API answers them, their words apart, and a hash of
 * both for the ETag.
 */
export function toStoredTranscript(
  transcript: Transcript,
  durationMs: number,
  warnings: readonly Warning[] = [],
  unheardMs = 0,
): StoredTranscript {
  const segments = JSON.stringify(transcript.segments.map(({ words: _words, ...segment }) => segment));
  const words = JSON.stringify(transcript.segments.map((segment) => segment.words));
  const version = versionOf(durationMs, segments, words);
  const { language } = transcript;
  return {
    durationMs,
    unheardMs,
    language,
    warnings,
    segments,
    words,
    hasSpeech: transcript.segments.length > 0,
    version,
  };
}
