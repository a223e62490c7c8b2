/** Above all recognizers: what one of them failed to hear is heard again, and put where it belongs. */
import { inHalves } from '../audio/pieces.ts';
import { totalMs, within } from '../audio/spans.ts';
import { PieceNotTranscribed, PieceRefused } from './recognizer.ts';
import { missedIn, slowlyMs } from './missed.ts';
import type { Piece, Span } from '../audio/pieces.ts';
import type { TraceSpan } from '../tracing/tracing.ts';
import type { Missed } from './missed.ts';
import type { Word } from '../captions/segment.ts';
import type { DecodedAudio, RecognizeOptions, UncertainStretch } from './recognizer.ts';

/**
 * Hears one piece, within a span where somebody traces it.
 * @param onHeard gets how much of it is done, in ms
 * @param earlier how often what it holds was heard before
 */
export type TranscribePiece<Result> = (
  piece: Piece,
  signal: AbortSignal,
  onHeard: (ms: number) => void,
  span?: TraceSpan,
  earlier?: number,
) => Promise<Result>;

/** A stretch is heard again alone, and then once more in halves. A piece without any word: in halves, and in quarters. */
const mostTimes = 2;
/** So much of a piece is as good as the whole: alone, it would be heard as before. */
const nearlyWhole = 0.9;

/** A piece, or a part of it, and what was heard in it. */
export interface HeardPart<Result> {
  piece: Piece;
  result: Result;
}

export interface Judging<Result> {
  audio: DecodedAudio;
  /** How much beyond its cut a half is heard. */
  overlapMs: number;
  /** Words or longer texts, with times from the start of the recording. */
  saidIn: (result: Result) => readonly Word[];
  /** Only what was said from one time to another. */
  only: (result: Result, fromMs: number, toMs: number) => Result;
  /** Whether the recognizer may say the same words on and on. Those that hear word by word don't. */
  mayLoop: boolean;
}

/**
 * Hears a piece. Where there is a voice and no word, few words for it, or the same words come on and on, that stretch is
 * heard again, and few words stay where no more are heard then.
 * Where the recognizer failed, the piece is cut in two and heard again. What a server refuses to hear again counts as heard.
 * What was not heard then either is told to `onUncertain`; loops are left out, and a failure counts.
 * @returns rejects with {@link PieceNotTranscribed}, with {@link PieceRefused} of the whole piece, and with all else that `hear` throws
 */
export function transcribeAgain<Result>(
  hear: TranscribePiece<Result>,
  { audio, overlapMs, saidIn, only, mayLoop }: Judging<Result>,
  onUncertain: RecognizeOptions['onUncertain'],
): TranscribePiece<HeardPart<Result>[]> {
  return async (whole, signal, onHeard, span) => {
    const hearPart = async (piece: Piece, earlier: number): Promise<HeardPart<Result>[]> => {
      let result: Result;
      try {
        result = await hear(piece, signal, earlier === 0 ? onHeard : () => {}, span, earlier);
      } catch (error) {
        if (error instanceof PieceRefused && earlier > 0) return nothingIn(piece);
        if (!(error instanceof PieceNotTranscribed) || earlier === mostTimes) throw error;
        return hearAll(inHalves(piece, audio.silences, overlapMs), earlier + 1);
      }
      const parts: HeardPart<Result>[] = [];
      let fromMs = piece.startMs;
      const keepUntil = (toMs: number) => {
        if (toMs > fromMs) parts.push({ piece: cutTo(piece, fromMs, toMs), result: only(result, fromMs, toMs) });
      };
      for (const missed of missedIn(piece, saidIn(result), audio, mayLoop)) {
        keepUntil(missed.startMs);
        const { startMs, endMs } = missed;
        const few = { piece: cutTo(piece, startMs, endMs), result: only(result, startMs, endMs) };
        const again = await hearMissed(missed, piece, earlier + 1);
        parts.push(...(missed.why === 'few words' && !(lengthOf(again) > lengthOf([few])) ? [few] : again));
        fromMs = missed.endMs;
      }
      if (fromMs === piece.startMs) return [{ piece, result }];
      keepUntil(piece.endMs);
      return parts;
    };

    const lengthOf = (parts: readonly HeardPart<Result>[]) =>
      parts.reduce((sum, { result }) => sum + slowlyMs(textOf(saidIn(result))), 0);
    const nothingIn = ({ startMs, endMs }: Span, why: UncertainStretch['why'] = 'no words') => {
      onUncertain?.({ startMs, endMs, why });
      return [];
    };

    const hearMissed = async (missed: Missed, piece: Piece, earlier: number): Promise<HeardPart<Result>[]> => {
      if (earlier > mostTimes) return nothingIn(missed, missed.why === 'a loop' ? 'a loop' : 'no words');
      const { startMs, endMs } = missed;
      if (endMs - startMs < nearlyWhole * (piece.endMs - piece.startMs))
        return hearPart({ startMs, endMs, windowStartMs: startMs, windowEndMs: endMs }, earlier);
      const halves = inHalves(piece, audio.silences, overlapMs);
      return hearAll(missed.why === 'a loop' ? halves : halves.filter(hasVoice), earlier);
    };
    const hasVoice = (piece: Piece) => totalMs(within(audio.speech ?? [piece], piece)) > 0;
    const hearAll = async (pieces: readonly Piece[], earlier: number) => {
      const heard: HeardPart<Result>[] = [];
      for (const piece of pieces) heard.push(...(await hearPart(piece, earlier)));
      return heard;
    };
    return await hearPart(whole, 0);
  };
}

const textOf = (words: readonly Word[]) => words.map(({ text }) => text).join(' ');

/** A part of a piece. It was heard as far as it goes, at the piece's own ends as far as the piece was. */
const cutTo = (piece: Piece, startMs: number, endMs: number): Piece => ({
  ...{ startMs, endMs },
  windowStartMs: startMs === piece.startMs ? piece.windowStartMs : startMs,
  windowEndMs: endMs === piece.endMs ? piece.windowEndMs : endMs,
});
