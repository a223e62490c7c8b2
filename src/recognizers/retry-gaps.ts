/** Above all recognizers: transcribes the gaps of a chunk again, and puts the words where they belong. */
import { inHalves } from '../audio/chunks.ts';
import { totalMs, overlapping } from '../audio/spans.ts';
import { ChunkNotTranscribed, ChunkRefused } from './recognizer.ts';
import { findGaps, slowlyMs } from './transcript-gaps.ts';
import type { Chunk, Span } from '../audio/chunks.ts';
import type { TraceSpan } from '../tracing/tracing.ts';
import type { TranscribedChunk } from './join.ts';
import type { TranscriptGap } from './transcript-gaps.ts';
import type { Word } from '../captions/segment.ts';
import type { DecodedAudio, RecognizeOptions, UncertainStretch } from './recognizer.ts';

/**
 * Works on one chunk, within a span where somebody traces it.
 * @param earlier how often what it holds was heard before
 */
export type ProcessChunk<Result> = (
  chunk: Chunk,
  signal: AbortSignal,
  span?: TraceSpan,
  earlier?: number,
) => Promise<Result>;

/** A stretch is recognized again alone, and then once more in halves. A chunk without any word: in halves, and in quarters. */
const mostTimes = 2;
/** So much of a chunk is as good as the whole: alone, it would be heard as before. */
const nearlyWhole = 0.9;

export interface GapChecks {
  audio: DecodedAudio;
  /** How far the window of a half reaches beyond its cut. */
  overlapMs: number;
  /** Whether the recognizer may say the same words on and on. Those that work word by word don't. */
  mayLoop: boolean;
}

/**
 * Transcribes a chunk. Where there is a voice and no word, few words for it, or the same words come on and on, that stretch is
 * heard again, and few words stay where no more are heard then.
 * Where the recognizer failed, the chunk is cut in two and recognized again. What a server refuses again stays as it is.
 * What stays without words goes to `onUncertain`; loops are left out, and a failure counts.
 * @returns rejects with {@link ChunkNotTranscribed}, with {@link ChunkRefused} of the whole chunk, and with all else that `hear` throws
 */
export function retryGaps<Heard extends TranscribedChunk>(
  transcribe: ProcessChunk<Heard>,
  { audio, overlapMs, mayLoop }: GapChecks,
  onUncertain: RecognizeOptions['onUncertain'],
): ProcessChunk<Heard[]> {
  return async (whole, signal, span) => {
    const transcribePart = async (chunk: Chunk, earlier: number): Promise<Heard[]> => {
      let heard: Heard;
      try {
        heard = await transcribe(chunk, signal, span, earlier);
      } catch (error) {
        if (error instanceof ChunkRefused && earlier > 0) return nothingIn(chunk);
        if (!(error instanceof ChunkNotTranscribed) || earlier === mostTimes) throw error;
        return transcribeAll(inHalves(chunk, audio.silences, overlapMs), earlier + 1);
      }
      const parts: Heard[] = [];
      let fromMs = chunk.startMs;
      const keepUntil = (toMs: number) => {
        if (toMs > fromMs) parts.push(cutTo(heard, fromMs, toMs));
      };
      for (const missed of findGaps(chunk, heard.utterances.flat(), audio, mayLoop)) {
        keepUntil(missed.startMs);
        const few = cutTo(heard, missed.startMs, missed.endMs);
        const again = await transcribeGap(missed, chunk, earlier + 1);
        parts.push(...(missed.why === 'few words' && !(lengthOf(again) > lengthOf([few])) ? [few] : again));
        fromMs = missed.endMs;
      }
      if (fromMs === chunk.startMs) return [heard];
      keepUntil(chunk.endMs);
      return parts;
    };

    const lengthOf = (parts: readonly Heard[]) =>
      parts.reduce((sum, { utterances }) => sum + slowlyMs(textOf(utterances.flat())), 0);
    const nothingIn = ({ startMs, endMs }: Span, why: UncertainStretch['why'] = 'no words') => {
      onUncertain?.({ startMs, endMs, why });
      return [];
    };

    const transcribeGap = async (missed: TranscriptGap, chunk: Chunk, earlier: number): Promise<Heard[]> => {
      if (earlier > mostTimes) return nothingIn(missed, missed.why === 'a loop' ? 'a loop' : 'no words');
      const { startMs, endMs } = missed;
      if (endMs - startMs < nearlyWhole * (chunk.endMs - chunk.startMs))
        return transcribePart({ startMs, endMs, windowStartMs: startMs, windowEndMs: endMs }, earlier);
      const halves = inHalves(chunk, audio.silences, overlapMs);
      return transcribeAll(missed.why === 'a loop' ? halves : halves.filter(hasVoice), earlier);
    };
    const hasVoice = (chunk: Chunk) => totalMs(overlapping(audio.speech ?? [chunk], chunk)) > 0;
    const transcribeAll = async (chunks: readonly Chunk[], earlier: number) => {
      const heard: Heard[] = [];
      for (const chunk of chunks) heard.push(...(await transcribePart(chunk, earlier)));
      return heard;
    };
    return await transcribePart(whole, 0);
  };
}

const textOf = (words: readonly Word[]) => words.map(({ text }) => text).join(' ');

/** What was said from one time to another. Its window ends with it, and at the chunk's own ends where the chunk's does. */
const cutTo = <Heard extends TranscribedChunk>(heard: Heard, startMs: number, endMs: number): Heard => ({
  ...heard,
  chunk: {
    ...{ startMs, endMs },
    windowStartMs: startMs === heard.chunk.startMs ? heard.chunk.windowStartMs : startMs,
    windowEndMs: endMs === heard.chunk.endMs ? heard.chunk.windowEndMs : endMs,
  },
  utterances: heard.utterances.map((words) => words.filter((word) => isWithin(word, startMs, endMs))),
});

/** Whether most of a word is said from one time to another. */
function isWithin(word: Word, fromMs: number, toMs: number): boolean {
  const middleMs = (word.startMs + word.endMs) / 2;
  return middleMs >= fromMs && middleMs < toMs;
}
