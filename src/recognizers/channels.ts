/** Joins what was heard in the channels of one recording. */
import { SpokenLanguages } from './spoken-languages.ts';
import type { Segment } from '../captions/segment.ts';
import type { Transcript } from './recognizer.ts';

/**
 * @param transcripts one for each channel, in order
 * @returns all segments in order of time, each with its channel. A speaker is heard in one channel only, so speakers of
 *   different channels get different labels. The language is the one that is spoken most
 */
export function joinChannels(transcripts: readonly Transcript[]): Transcript {
  const spoken = new SpokenLanguages();
  for (const each of transcripts) for (const { text } of each.segments) spoken.add(each.language, text);
  const language = spoken.most();
  const segments = transcripts
    .flatMap(({ segments: own }, index) => own.map((segment) => ({ ...segment, channel: index + 1 })))
    .sort((one, other) => one.startMs - other.startMs || one.endMs - other.endMs || one.channel - other.channel);
  const labels = new Map<string, string>();
  const labelOf = (channel: number, speaker: string): string => {
    const voice = `${channel} ${speaker}`;
    if (!labels.has(voice)) labels.set(voice, `S${labels.size + 1}`);
    return labels.get(voice)!;
  };
  return {
    ...(language !== undefined && { language }),
    segments: segments.map(({ speaker, channel, ...segment }, index): Segment => ({
      ...segment,
      index,
      ...(speaker !== undefined && { speaker: labelOf(channel, speaker) }),
      channel,
    })),
  };
}
