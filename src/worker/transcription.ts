/** From stored audio to a transcript: decodes it, makes sure that it is paid for, and recognizes it. */
import { confirmShortIfProcessing } from '../../db/sessions/attempts.ts';
import { AudioError, AudioToolError } from '../audio/audio-error.ts';
import { countChannels } from '../audio/channels.ts';
import { findLeaks } from '../audio/leaks.ts';
import { decodeWhole } from '../audio/whole-audio.ts';
import { OperatorFault } from '../ops/operator-fault.ts';
import { joinChannels } from '../recognizers/channels.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizers/recognizer.ts';
import { meanProgress } from '../recognizers/all-or-abort.ts';
import { mostChannels } from '../sessions/job.ts';
import { beginSpan, within } from '../tracing/tracing.ts';
import { coverDecoded } from './reservation.ts';
import type { Attempt, Claim } from '../../db/sessions/attempts.ts';
import type { AudioWarning, DecodeOptions } from '../audio/decode.ts';
import type { Hints, Transcript, UncertainStretch, WordlessPart } from '../recognizers/recognizer.ts';
import type { TraceSpan } from '../tracing/tracing.ts';
import type { WorkerContext } from './worker-context.ts';

export interface TranscriptionOptions {
  timeLimitMs: number;
  signal: AbortSignal;
  /** Of the attempt. */
  span: TraceSpan;
  onProgress: (percent: number) => void;
}

export interface RecordingTranscript {
  transcript: Transcript;
  durationMs: number;
  audioWarnings: AudioWarning[];
  /** Where words may be missing, or wrong. */
  uncertain: UncertainStretch[];
  /** What is reserved for it now. */
  reservedMs: number;
}

/**
 * Recognizes the mix of all channels, or one channel after the other, so that the disk holds one at a time. All channels
 * are listened to before, to know what leaks over from one into another.
 * @throws {AudioError} {AudioToolError} {RecognizerError} {NotCovered} {ClaimLost}
 * @throws {AudioStoreAway}
 * @throws the abort reason of `options.signal`
 */
export async function transcribeRecording(
  attempt: Attempt,
  claim: Claim,
  options: TranscriptionOptions,
  worker: WorkerContext,
): Promise<RecordingTranscript> {
  const wanted = {
    to: worker.workFolder.uploadPath(attempt),
    bytes: claim.audio_bytes ?? undefined,
    signal: options.signal,
  };
  const input = await worker.audioStore.fetch(attempt.accountId, attempt.sessionId, wanted);
  const { timeLimitMs, signal } = options;
  const output = worker.workFolder.path(attempt);
  const decoding = { input, output, maxDurationMs: claim.max_audio_ms, timeLimitMs, signal };
  if (!claim.separate_channels) return transcribeChannel(attempt, claim, { ...options, decoding }, worker);

  const { track, channels: count } = await countChannels({ input, timeLimitMs, signal });
  if (count > mostChannels) throw new AudioError('too_many_channels', `${count} channels`);
  const progressOf = meanProgress(count, options.onProgress);
  const listen = () => findLeaks({ ...decoding, track }, count);
  const leaks = await worker.decoding.run(attempt.accountId, listen, signal);
  const transcripts: RecordingTranscript[] = [];
  for (let channel = 1; channel <= count; channel += 1) {
    const onProgress = progressOf(channel - 1);
    const listening = { ...decoding, track, channel, silenced: leaks[channel - 1] };
    const now = { ...claim, reserved_ms: transcripts.at(-1)?.reservedMs ?? claim.reserved_ms };
    transcripts.push(await transcribeChannel(attempt, now, { ...options, onProgress, decoding: listening }, worker));
    if (transcripts[0]!.durationMs !== transcripts.at(-1)!.durationMs)
      throw new AudioToolError(
        `channel ${channel} is ${transcripts.at(-1)!.durationMs} ms, not ${transcripts[0]!.durationMs}`,
      );
    if (channel < count) onProgress(100);
  }
  return {
    ...transcripts.at(-1)!,
    transcript: joinChannels(transcripts.map(({ transcript }) => transcript)),
    audioWarnings: transcripts.flatMap(({ audioWarnings }) => audioWarnings),
    uncertain: transcripts.flatMap(({ uncertain }) => uncertain),
  };
}

/** A log line has room for so many. */
const mostStretches = 20;

/** @param options without track and channel, `decodeWhole` finds what to listen to */
async function transcribeChannel(
  attempt: Attempt,
  claim: Claim,
  { signal, span, onProgress, decoding }: TranscriptionOptions & { decoding: DecodeOptions },
  worker: WorkerContext,
): Promise<RecordingTranscript> {
  const { db, recognizer, metrics } = worker;
  const decode = () => within(beginSpan('decode', {}, span), () => decodeWhole(decoding, claim.measured_ms));
  const decoded = await worker.decoding.run(attempt.accountId, decode, signal);
  const { durationMs, silences, isConfirmedShort, warnings } = decoded;
  if (isConfirmedShort) await confirmShortIfProcessing(db, attempt);
  const reservedMs = await coverDecoded(db, attempt, claim.reserved_ms, durationMs);
  const began = performance.now();
  const wordless = { parts: 0, withWordsAtLast: 0 };
  const onWordless = ({ hasWordsNow }: WordlessPart) => {
    wordless.parts += 1;
    if (hasWordsNow) wordless.withWordsAtLast += 1;
  };
  const uncertain: UncertainStretch[] = [];
  const onUncertain = (stretch: UncertainStretch) => void uncertain.push(stretch);
  const hints = hintsOf(claim, worker);
  const recognizing = beginSpan('recognize', { attributes: { 'transcription.recognizer': recognizer.name } }, span);
  const transcript = await within(recognizing, (span) =>
    recognizer.recognize(
      { file: decoding.output, durationMs, silences },
      { ...hints, owner: attempt.accountId, signal, span, onProgress, onWordless, onUncertain },
    ),
  ).catch((error: unknown) => {
    throw hints.isLanguageExpected && error instanceof LanguageNotKnown ? ofTheOperator(error) : error;
  });
  if (durationMs > 0) metrics.realTimeFactor.observe((performance.now() - began) / durationMs);
  if (uncertain.length > 0) {
    const stretches = uncertain.slice(0, mostStretches);
    worker.log.warn({ count: uncertain.length, stretches }, 'stretches of speech that may lack words');
  }
  if (wordless.parts > 0) worker.log.info(wordless, 'loud parts without words');
  return { transcript, durationMs, audioWarnings: warnings, uncertain, reservedMs };
}

/** The client asked for no language, so its session is not refused for one. */
const ofTheOperator = ({ message }: LanguageNotKnown) => {
  const cause = new OperatorFault(`RECOGNIZER_LANGUAGE: ${message}`);
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
