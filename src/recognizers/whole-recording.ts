/** What is said of a whole recording, when its chunks or channels are joined. */
import type { Segment } from '../captions/segment.ts';

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
