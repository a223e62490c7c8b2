import { segmentsFromTexts, segmentsFromUtterances } from '../../captions/segments.ts';
import { joinChunks } from '../join.ts';
import { spokenIn } from '../spoken.ts';
import { mostSpoken, nameSpeakers } from '../whole-recording.ts';
import type { Span } from '../../audio/chunks.ts';
import type { SpokenWord } from '../../captions/segment.ts';
import type { Segment } from '../../captions/segment.ts';
import type { TranscribedChunk } from '../join.ts';
import type { DecodedAudio, Transcript } from '../recognizer.ts';
import type { Answer } from './server-answers.ts';

/** What was answered to a chunk, with times from the start of the recording. */
export interface AnsweredChunk extends TranscribedChunk<SpokenWord>, Pick<Answer, 'timesOf' | 'language'> {}

/**
 * Joins what a server answered to the chunks of a recording.
 * @param heard in order of time; a speaker has one name in all of them
 */
export function toTranscript(heard: readonly AnsweredChunk[], audio: DecodedAudio): Transcript {
  const spoken = segmentsFromUtterances(joinChunks(heard, true), audio.durationMs);
  const segments = nameSpeakers(withoutUntimedWords(spoken, heard, audio));
  const texts = heard.flatMap(({ utterances, language }) => utterances.flat().map(({ text }) => ({ language, text })));
  const language = mostSpoken(texts);
  return { segments, ...(language !== undefined && { language }) };
}

/** Removes the words of chunks that have no times of words: they are texts of several words. */
function withoutUntimedWords(segments: readonly Segment[], heard: readonly AnsweredChunk[], audio: DecodedAudio) {
  const spoken = (stretch: Span) => spokenIn(audio, stretch);
  const untimed = heard.filter(({ timesOf }) => timesOf === 'segments' || timesOf === 'text');
  let next = 0;
  // Both are in order, so each chunk is looked at once: a day has thousands of each.
  const isUntimed = ({ startMs, endMs }: Segment) => {
    const middleMs = (startMs + endMs) / 2;
    while (next < untimed.length && untimed[next]!.chunk.endMs < middleMs) next += 1;
    return next < untimed.length && untimed[next]!.chunk.startMs <= middleMs;
  };
  return segments
    .flatMap((segment) => (isUntimed(segment) ? segmentsFromTexts([segment], audio.durationMs, spoken) : [segment]))
    .map((segment, index) => ({ ...segment, index }));
}
