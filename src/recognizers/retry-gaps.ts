/** Above all recognizers: what one of them failed to hear is heard again, and put where it belongs. */
import { inHalves } from '../audio/chunks.ts';
import { totalMs, overlapping } from '../audio/spans.ts';
import { ChunkNotTranscribed, ChunkRefused } from './recognizer.ts';
import { findGaps, slowlyMs } from './transcript-gaps.ts';
import type { Chunk, Span } from '../audio/chunks.ts';
import type { TraceSpan } from '../tracing/tracing.ts';
import type { TranscriptGap } from './transcript-gaps.ts';
import type { Word } from '../captions/segment.ts';
import type { DecodedAudio, RecognizeOptions, UncertainStretch } from './recognizer.ts';

/**
 * Hears one chunk, within a span where somebody traces it.
 * @param onHeard gets how much of it is done, in ms
 * @param earlier how often what it holds was heard before
 */
export type TranscribeChunk<Result> = (
  chunk: Chunk,
  signal: AbortSignal,
  onHeard: (ms: number) => void,
  span?: TraceSpan,
  earlier?: number,
) => Promise<Result>;

/** A stretch is heard again alone, and then once more in halves. A chunk without any word: in halves, and in quarters. */
const mostTimes = 2;
/** So much of a chunk is as good as the whole: alone, it would be heard as before. */
const nearlyWhole = 0.9;

/** A chunk, or a part of it, and what was heard in it. */
export interface ChunkResult<Result> {
  chunk: Chunk;
  result: Result;
}

export interface GapChecks<Result> {
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
 * Hears a chunk. Where there is a voice and no word, few words for it, or the same words come on and on, that stretch is
 * heard again, and few words stay where no more are heard then.
 * Where the recognizer failed, the chunk is cut in two and heard again. What a server refuses to hear again counts as heard.
 * What was not heard then either is told to `onUncertain`; loops are left out, and a failure counts.
 * @returns rejects with {@link ChunkNotTranscribed}, with {@link ChunkRefused} of the whole chunk, and with all else that `hear` throws
 */
export function retryGaps<Result>(
  hear: TranscribeChunk<Result>,
  { audio, overlapMs, saidIn, only, mayLoop }: GapChecks<Result>,
  onUncertain: RecognizeOptions['onUncertain'],
): TranscribeChunk<ChunkResult<Result>[]> {
  return async (whole, signal, onHeard, span) => {
    const hearPart = async (chunk: Chunk, earlier: number): Promise<ChunkResult<Result>[]> => {
      let result: Result;
      try {
        result = await hear(chunk, signal, earlier === 0 ? onHeard : () => {}, span, earlier);
      } catch (error) {
        if (error instanceof ChunkRefused && earlier > 0) return nothingIn(chunk);
        if (!(error instanceof ChunkNotTranscribed) || earlier === mostTimes) throw error;
        return hearAll(inHalves(chunk, audio.silences, overlapMs), earlier + 1);
      }
      const parts: ChunkResult<Result>[] = [];
      let fromMs = chunk.startMs;
      const keepUntil = (toMs: number) => {
        if (toMs > fromMs) parts.push({ chunk: cutTo(chunk, fromMs, toMs), result: only(result, fromMs, toMs) });
      };
      for (const missed of findGaps(chunk, saidIn(result), audio, mayLoop)) {
        keepUntil(missed.startMs);
        const { startMs, endMs } = missed;
        const few = { chunk: cutTo(chunk, startMs, endMs), result: only(result, startMs, endMs) };
        const again = await hearMissed(missed, chunk, earlier + 1);
        parts.push(...(missed.why === 'few words' && !(lengthOf(again) > lengthOf([few])) ? [few] : again));
        fromMs = missed.endMs;
      }
      if (fromMs === chunk.startMs) return [{ chunk, result }];
      keepUntil(chunk.endMs);
      return parts;
    };

    const lengthOf = (parts: readonly ChunkResult<Result>[]) =>
      parts.reduce((sum, { result }) => sum + slowlyMs(textOf(saidIn(result))), 0);
    const nothingIn = ({ startMs, endMs }: Span, why: UncertainStretch['why'] = 'no words') => {
      onUncertain?.({ startMs, endMs, why });
      return [];
    };

    const hearMissed = async (missed: TranscriptGap, chunk: Chunk, earlier: number): Promise<ChunkResult<Result>[]> => {
      if (earlier > mostTimes) return nothingIn(missed, missed.why === 'a loop' ? 'a loop' : 'no words');
      const { startMs, endMs } = missed;
      if (endMs - startMs < nearlyWhole * (chunk.endMs - chunk.startMs))
        return hearPart({ startMs, endMs, windowStartMs: startMs, windowEndMs: endMs }, earlier);
      const halves = inHalves(chunk, audio.silences, overlapMs);
      return hearAll(missed.why === 'a loop' ? halves : halves.filter(hasVoice), earlier);
    };
    const hasVoice = (chunk: Chunk) => totalMs(overlapping(audio.speech ?? [chunk], chunk)) > 0;
    const hearAll = async (chunks: readonly Chunk[], earlier: number) => {
      const heard: ChunkResult<Result>[] = [];
      for (const chunk of chunks) heard.push(...(await hearPart(chunk, earlier)));
      return heard;
    };
    return await hearPart(whole, 0);
  };
}

const textOf = (words: readonly Word[]) => words.map(({ text }) => text).join(' ');

/** A part of a chunk. It was heard as far as it goes, at the chunk's own ends as far as the chunk was. */
const cutTo = (chunk: Chunk, startMs: number, endMs: number): Chunk => ({
  ...{ startMs, endMs },
  windowStartMs: startMs === chunk.startMs ? chunk.windowStartMs : startMs,
  windowEndMs: endMs === chunk.endMs ? chunk.windowEndMs : endMs,
});
