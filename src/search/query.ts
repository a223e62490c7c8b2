/** What somebody typed: words, `"phrases"`, and `-` before what must not be there. Whatever is typed is a query. */
import { tokensOf } from './tokens.ts';
import type { Token } from './tokens.ts';

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
