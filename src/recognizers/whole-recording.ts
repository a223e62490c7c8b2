/** What is said of a whole recording, when its chunks or channels are joined. */
import type { Segment } from '../captions/segment.ts';
import type { Transcript } from './recognizer.ts';

/** Calls speakers `S1`, `S2`, …, in the order in which they begin to speak. */
export function nameSpeakers<S extends Segment>(segments: readonly S[]): S[] {
  const names = new Map<string, string>();
  return segments.map((segment) => {
    const { speaker } = segment;
    if (speaker === undefined) return segment;
    if (!names.has(speaker)) names.set(speaker, `S${names.size + 1}`);
    return { ...segment, speaker: names.get(speaker)! };
  });
}

/** The language of most of the text; undefined: unknown. */
export function mostSpoken(texts: readonly { language?: string | undefined; text: string }[]): string | undefined {
  const characters = new Map<string, number>();
  for (const { language, text } of texts)
    if (language !== undefined) characters.set(language, (characters.get(language) ?? 0) + text.length);
  return [...characters].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/**
 * Joins what was recognized in the channels of one recording.
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
