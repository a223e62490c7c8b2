/**
 * A title and a transcript as the index holds them. A `tsvector` of PostgreSQL knows 256 positions of a word, so they are
 * cut into passages. These overlap, so that no phrase is cut.
 */
import { accountMark, isCommon, lexemeOf, reversedOf, tokensOf } from './tokens.ts';
import { findStems } from '../../db/search/stems.ts';
import { languageOf, simple } from './index-languages.ts';
import { inSlices } from '../concurrency/slices.ts';
import type { Language } from './index-languages.ts';
import type { Stems, Token } from './tokens.ts';
import type { Queryable } from '../../db/connection/database.ts';
import type { Passage, SearchDocument } from '../../db/search/passages.ts';

const longestPassage = 16_000;
const mostOfOneWord = 255;
/** Of 1 MiB that a `tsvector` may have. */
const mostBytes = 512 * 1024;
/** A place takes two bytes, a word four more than its letters. */
const [bytesOfPlace, bytesOfWord] = [2, 4];
/** A query of 200 characters holds no longer phrase. */
const overlap = 200;
/** A word of so many letters may be joined of two. */
const joinedFrom = 8;
/** Takes about 1 ms. */
const tokensOfSlice = 1_000;

export interface Tokenized {
  tokens: Token[];
  /** Those whose stems are needed, each once. */
  words: Set<string>;
  /** The position at which each segment begins, as tokens have them. */
  starts: number[];
}

/** A session cut into tokens, as work for `inSlices`. No phrase goes from its title into its first segment. */
export function* tokenize(title: string, segments: readonly string[]): Generator<undefined, Tokenized> {
  const tokens = tokensOf(title);
  const words = wordsOf(tokens);
  const starts: number[] = [];
  let next = tokens.length + 1;
  for (const text of segments) {
    starts.push(next);
    for (const token of tokensOf(text, next)) {
      tokens.push(token);
      if (token.kind === 'word') words.add(token.text);
      next += 1;
    }
    yield;
  }
  return { tokens, words, starts };
}

/** The words whose stems are needed. */
export const wordsOf = (tokens: readonly Token[]): Set<string> =>
  new Set(tokens.filter(({ kind }) => kind === 'word').map(({ text }) => text));

/** The passages of a session, as work for `inSlices`: at least one, however little it says. */
export function* toPassages(
  accountId: string,
  { tokens, starts }: Tokenized,
  language: Language,
  stems: Stems,
): Generator<undefined, Passage[]> {
  const account = accountMark(accountId);
  const passages: Passage[] = [];
  for (let [from, to] = [0, 0]; passages.length === 0 || to < tokens.length; from = to - overlap) {
    const base = tokens[from]?.position ?? 0;
    const places = new Places();
    let isFull = false;
    for (to = from; to < tokens.length && !isFull; to += 1) {
      if (to % tokensOfSlice === 0) yield;
      const token = tokens[to]!;
      const lexeme = lexemeOf(account, language, token, stems);
      const position = token.position - base + 1;
      const isPlaced = !isCommon(token, stems);
      if (isPlaced) places.add(lexeme, position);
      else places.addWithout(lexeme);
      const mayBeJoined = language.joinsWords && token.kind === 'word' && token.text.length >= joinedFrom;
      if (isPlaced && mayBeJoined) places.add(reversedOf(account, language, token, stems), position);
      isFull = places.isFull || position >= longestPassage;
    }
    const last = tokens[to - 1]?.position ?? 0;
    passages.push({ ...segmentsWithin(starts, base, last), words: places.toTsvector() });
  }
  return passages;
}

/** The words of a passage with their places. */
class Places {
  readonly #places = new Map<string, number[]>();
  #bytes = 0;
  #mostOfOne = 0;

  add(lexeme: string, position: number): void {
    const known = this.#known(lexeme);
    this.#bytes += bytesOfPlace;
    this.#mostOfOne = Math.max(this.#mostOfOne, known.push(position));
  }

  /** Another word may have the same stem, and keeps its places: `willing` that of `will`. */
  addWithout(lexeme: string): void {
    this.#known(lexeme);
  }

  get isFull(): boolean {
    return this.#mostOfOne >= mostOfOneWord || this.#bytes >= mostBytes;
  }

  toTsvector(): string {
    return [...this.#places]
      .map(([lexeme, positions]) => `'${lexeme}'${positions.length > 0 ? ':' : ''}${positions.join(',')}`)
      .join(' ');
  }

  #known(lexeme: string): number[] {
    const known = this.#places.get(lexeme) ?? [];
    if (!this.#places.has(lexeme)) {
      this.#places.set(lexeme, known);
      this.#bytes += Buffer.byteLength(lexeme) + bytesOfWord;
    }
    return known;
  }
}

function segmentsWithin(all: readonly number[], base: number, last: number): Omit<Passage, 'words'> {
  const firstSegment = Math.max(
    0,
    all.findLastIndex((start) => start <= base),
  );
  const starts: number[] = [];
  for (let index = firstSegment; all[index]! <= last; index += 1) starts.push(Math.max(1, all[index]! - base + 1));
  return { firstSegment, starts };
}

/** What there is to find of a session. */
export interface Indexable {
  title: string;
  /** Of the transcript, as a BCP 47 tag; null: unknown. Without a transcript it does not matter. */
  language: string | null;
  /** As JSON text; undefined while there is no transcript. */
  segments: string | undefined;
}

/**
 * What the search index is to hold of a session. For a day of speech that takes a second, so it is done before the account is
 * locked; requests are answered in between.
 *
 * @param db knows the stems of words, and is not changed
 */
export async function searchDocumentOf(
  db: Queryable,
  accountId: string,
  { title, language: tag, segments }: Indexable,
): Promise<SearchDocument> {
  const texts = segments === undefined ? [] : (JSON.parse(segments) as { text: string }[]).map(({ text }) => text);
  const tokenized = await inSlices(tokenize(title, texts));
  // Before there is a transcript, its title is found as it is written.
  const language = segments === undefined ? simple : languageOf(tag);
  const { dictionary } = language;
  const [stems = new Map<string, string>()] =
    dictionary === undefined ? [] : await findStems(db, [dictionary], [...tokenized.words]);
  const passages = await inSlices(toPassages(accountId, tokenized, language, stems));
  return { passages, language: segments === undefined ? undefined : language.mark };
}
