import { findStems } from '../../db/search/stems.ts';
import { languageOf, simple } from './index-languages.ts';
import { inSlices } from '../concurrency/slices.ts';
import { toPassages, tokenize } from './passages.ts';
import type { Queryable } from '../../db/connection/database.ts';
import type { Passage } from './passages.ts';

/** What there is to find of a session. */
export interface Indexable {
  title: string;
  /** Of the transcript, as a BCP 47 tag; null when nobody knows. Without a transcript it does not matter. */
  language: string | null;
  /** As JSON text; undefined while there is no transcript. */
  segments: string | undefined;
}

/** What the index holds of a session, or should. Requests are answered in between. @param db knows the stems of words, and is not changed */
export async function passagesOf(
  db: Queryable,
  accountId: string,
  { title, language: tag, segments }: Indexable,
): Promise<Passage[]> {
  const texts = segments === undefined ? [] : (JSON.parse(segments) as { text: string }[]).map(({ text }) => text);
  const tokenized = await inSlices(tokenize(title, texts));
  // Before there is a transcript, its title is found as it is written.
  const language = segments === undefined ? simple : languageOf(tag);
  const { dictionary } = language;
  const [stems = new Map<string, string>()] =
    dictionary === undefined ? [] : await findStems(db, [dictionary], [...tokenized.words]);
  return inSlices(toPassages(accountId, tokenized, language, stems));
}
