/** Above all recognizers: what one of them failed to hear is heard again, in halves. */
import { inHalves } from '../audio/pieces.ts';
import { totalMs, within } from '../audio/spans.ts';
import { PieceNotHeard } from './recognizer.ts';
import { isLoop } from './loops.ts';
import type { Piece } from '../audio/pieces.ts';
import type { TraceSpan } from '../tracing/span.ts';
import type { DecodedAudio, RecognizeOptions, UncertainStretch } from './recognizer.ts';

/** Hears one piece, within a span where somebody traces it; `onHeard` gets how much of it is done, in ms. */
export type HearPiece<Result> = (
  piece: Piece,
  signal: AbortSignal,
  onHeard: (ms: number) => void,
  span?: TraceSpan,
) => Promise<Result>;

/** A quarter of a piece is not cut once more. */
const mostTimes = 2;
/** In so much of a voice there is a word, unless somebody sings or only laughs. */
const leastVoiceMs = 1_000;

/** A piece, or a part of it, and what was heard in it. */
export interface HeardPart<Result> {
  piece: Piece;
  result: Result;
}

export interface Judging<Result> {
  audio: DecodedAudio;
  /** How much beyond its cut a half is heard. */
  overlapMs: number;
  textOf: (result: Result) => string;
  /** Whether the recognizer may say the same words on and on. Those that hear word by word don't. */
  mayLoop: boolean;
}

/**
 * Hears a piece. Where there is a voice and no word, or the same words come on and on, or the recognizer failed, it is
 * cut in two and heard again, and each half once more. Then a failure counts, what still loops is left out, and
 * `onUncertain` is told of both kinds of stretches.
 * @returns rejects with {@link PieceNotHeard} and whatever else `hear` throws
 */
export function hearAgain<Result>(
  hear: HearPiece<Result>,
  { audio, overlapMs, textOf, mayLoop }: Judging<Result>,
  onUncertain: RecognizeOptions['onUncertain'],
): HearPiece<HeardPart<Result>[]> {
  const faultOf = (piece: Piece, result: Result): UncertainStretch['why'] | undefined => {
    const text = textOf(result).trim();
    if (text === '') return totalMs(within(audio.speech ?? [], piece)) >= leastVoiceMs ? 'no words' : undefined;
    return mayLoop && isLoop(text) ? 'a loop' : undefined;
  };
  return async (whole, signal, onHeard, span) => {
    const hearPart = async (piece: Piece, times: number): Promise<HeardPart<Result>[]> => {
      try {
        const result = await hear(piece, signal, times === 0 ? onHeard : () => {}, span);
        const why = faultOf(piece, result);
        if (why === undefined) return [{ piece, result }];
        if (times === mostTimes) {
          onUncertain?.({ startMs: piece.startMs, endMs: piece.endMs, why });
          return why === 'a loop' ? [] : [{ piece, result }];
        }
      } catch (error) {
        if (!(error instanceof PieceNotHeard) || times === mostTimes) throw error;
      }
      const heard: HeardPart<Result>[] = [];
      for (const half of inHalves(piece, audio.silences, overlapMs)) heard.push(...(await hearPart(half, times + 1)));
      return heard;
    };
    return await hearPart(whole, 0);
  };
}
