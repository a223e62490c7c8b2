/** Joins what was recognized in the channels of one recording. */
import { mostSpoken, nameSpeakers } from './whole-recording.ts';
import type { Transcript } from './recognizer.ts';

/**
 * @param transcripts one for each channel, in order
 * @returns all segments in order of time, each with its channel. A speaker is heard in one channel only, so speakers of
 *   different channels get different labels. The language is the one that is spoken most
 */
export function joinChannels(transcripts: readonly Transcript[]): Transcript {
  const language = mostSpoken(
    transcripts.flatMap(({ language, segments }) => segments.map(({ text }) => ({ language, text }))),
  );
  const segments = transcripts
    .flatMap(({ segments: own }, index) =>
      own.map(({ speaker, ...segment }) => ({
        ...segment,
        ...(speaker !== undefined && { speaker: `${index} ${speaker}` }),
        channel: index + 1,
      })),
    )
    .sort((one, other) => one.startMs - other.startMs || one.endMs - other.endMs || one.channel - other.channel)
    .map((segment, index) => ({ ...segment, index }));
  return { ...(language !== undefined && { language }), segments: nameSpeakers(segments) };
}
