import { holdAll } from './punctuation.ts';
import type { SpokenWord } from '../../captions/segments.ts';

/** A piece has few speakers. A hostile server may name thousands. */
const mostNames = 50;

/**
 * Some servers write who speaks into the text, as in `A: Good morning.`, and say it in the segments, too. There the
 * names are no words.
 * @param segments undefined where there are none
 * @returns the text as it is, unless the segments hold all of it but for the names
 */
export function withoutNames(text: string, segments: readonly SpokenWord[] | undefined): string {
  if (segments === undefined || holdAll(segments, text)) return text;
  const names = [...new Set(segments.flatMap(({ speaker }) => speaker ?? []))].slice(0, mostNames);
  // A name may be the end of a longer one.
  names.sort((a, b) => b.length - a.length);
  const forms = names.flatMap((name) => [`[${name}]:`, `(${name}):`, `[${name}]`, `(${name})`, `${name}:`]);
  const bare = forms.reduce((rest, form) => rest.replaceAll(form, ''), text).trim();
  return holdAll(segments, bare) ? bare : text;
}
