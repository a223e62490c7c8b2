/**
 * A query: words, `"phrases"`, and `-` before what must not be there. Whatever is typed is a query. Then its clauses as
 * PostgreSQL's index understands them.
 */
import { accountMark, isCommon, lexemeOf, reversedOf, tokensOf } from './tokens.ts';
import type { Language } from './index-languages.ts';
import type { Stems, Token } from './tokens.ts';

/** A word, or the words of a phrase in their order. */
export interface Clause {
  tokens: Token[];
  isExcluded: boolean;
}

const quotes = /["“”„‟«»＂]/g;
const parts = /(?<=^|\s)(?<minus>-?)(?:"(?<phrase>[^"]*)"?|(?<word>[^\s"]+))|"(?<bare>[^"]*)"?|(?<rest>[^\s"]+)/g;

/**
 * The clauses of a query; a quote that was left open ends with it. A word that is made of several, such as `e-mail`, is a
 * phrase of them.
 */
export function parseQuery(q: string): Clause[] {
  const clauses = new Map<string, Clause>();
  for (const { groups } of q.replace(quotes, '"').matchAll(parts)) {
    const { minus, phrase, word, bare, rest } = groups!;
    const tokens = phraseOf(phrase ?? word ?? bare ?? rest ?? '');
    if (tokens.length === 0) continue;
    const clause = { tokens, isExcluded: minus === '-' };
    clauses.set(JSON.stringify(clause), clause);
  }
  return [...clauses.values()];
}

/** As they lie in a text, but for the last character of a run: the pair before it holds it already. */
function phraseOf(text: string): Token[] {
  const tokens = tokensOf(text);
  return tokens.filter(
    ({ kind, position, text: pair }, index) =>
      kind !== 'pair' || [...pair].length > 1 || !endsInIt(tokens[index - 1], pair, position),
  );
}

const endsInIt = (before: Token | undefined, character: string, position: number): boolean =>
  before?.kind === 'pair' && before.position === position - 1 && [...before.text][1] === character;

/** A lexeme of the index, or with `isBeginning` all that begin with it. */
export interface Term {
  lexeme: string;
  isBeginning: boolean;
}

/** One of these terms, so many positions after the one before; anywhere, where its place is unknown. */
export interface Step {
  terms: Term[];
  distance: number | undefined;
}

/** A clause as it is said in each language. */
export interface Condition {
  isExcluded: boolean;
  /** Whether its words have to follow each other. */
  isPhrase: boolean;
  /** The text of a `tsquery`. */
  query: string;
  /** The same of its words alone, in any order, which the index answers without reading a text. */
  words: string;
  /** Any of these ways. */
  ways: Step[][];
}

/** A part of a joined word is found from this many letters on: shorter ones are in too many. */
const partFrom = 4;

/** A language in which somebody may have said it, with the stems that the words of the query have in it. */
export interface QueryLanguage {
  language: Language;
  stems: Stems;
}

/** @param languages those of the account's transcripts, and the simple one */
export function toCondition(accountId: string, clause: Clause, languages: readonly QueryLanguage[]): Condition {
  const account = accountMark(accountId);
  const ways = new Map<string, Step[]>();
  for (const { language, stems } of languages) {
    const way = stepsOf(account, language, clause, stems);
    // Where nothing can be inflected, all languages say the same.
    ways.set(toTsquery(way), way);
  }
  const words = [...ways.values()].map((way) => toTsquery(way.map(({ terms }) => ({ terms, distance: undefined }))));
  return {
    ...{ isExcluded: clause.isExcluded, isPhrase: clause.tokens.length > 1, ways: [...ways.values()] },
    ...{ query: anyOf([...ways.keys()]), words: anyOf(words) },
  };
}

export const anyOf = (queries: readonly string[]): string => queries.map((query) => `(${query})`).join(' | ');

/** Of a phrase, very common words are left out, but the others keep their distance; of such words alone, all are wanted. */
function stepsOf(account: string, language: Language, clause: Clause, stems: Stems): Step[] {
  const placed = clause.tokens.filter((token) => !isCommon(token, stems));
  return (placed.length > 0 ? placed : clause.tokens).map((token, index, all) => ({
    terms: termsOf(account, language, clause, token, stems),
    distance: placed.length > 0 ? token.position - (all[index - 1] ?? token).position : undefined,
  }));
}

function termsOf(
  account: string,
  language: Language,
  { tokens, isExcluded }: Clause,
  token: Token,
  stems: Stems,
): Term[] {
  const lexeme = lexemeOf(account, language, token, stems);
  // A single character is the first of a pair, or the last of a text.
  if (token.kind === 'pair') return [{ lexeme, isBeginning: [...token.text].length === 1 }];
  const mayBePart =
    language.joinsWords && token.kind === 'word' && !isExcluded && tokens.length === 1 && token.text.length >= partFrom;
  if (!mayBePart) return [{ lexeme, isBeginning: false }];
  return [lexeme, reversedOf(account, language, token, stems)].map((part) => ({ lexeme: part, isBeginning: true }));
}

const toTsquery = (way: readonly Step[]): string =>
  way
    .map(({ terms, distance }, index) => {
      const texts = terms.map(({ lexeme, isBeginning }) => `'${lexeme}'${isBeginning ? ':*' : ''}`);
      const joint = index === 0 ? '' : distance === undefined ? ' & ' : ` <${distance}> `;
      return `${joint}(${texts.join(' | ')})`;
    })
    .join('');
