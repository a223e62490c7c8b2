/** A recording is heard in chunks, each as if it were a whole text. */
import { endsSentence } from './breaths.ts';

/**
 * Makes one text of those of chunks. Where the speaker went on, a full stop before a small letter goes, and a capital
 * that begins no sentence is made small, if the word is written small elsewhere and is nowhere a name. Quotation marks
 * without their other half go.
 * @param goesOn of each chunk, whether the next one follows without the pause of a sentence
 */
export function withoutSeams(chunks: readonly string[], goesOn: readonly boolean[]): string[] {
  const whole = chunks.join('\n');
  const small = new Set(whole.match(/(?<![\p{L}'’])\p{Ll}[\p{L}'’]*/gu));
  const names = new Set(whole.match(/(?<=[\p{L},] )\p{Lu}[\p{L}'’]*/gu));
  return chunks.map((text, index) => {
    let own = inPairs(text);
    if (goesOn[index] && /^\p{Ll}/u.test(chunks[index + 1] ?? '')) own = own.replace(/(?<=[\p{Ll}\p{N}])\.$/u, '');
    const [first = ''] = /^\p{Lu}[\p{L}'’]*/u.exec(own) ?? [];
    const isInSentence = goesOn[index - 1] === true && !endsSentence(chunks[index - 1]!, first);
    return isInSentence && small.has(first.toLowerCase()) && !names.has(first)
      ? first.toLowerCase() + own.slice(first.length)
      : own;
  });
}

/** Without straight quotation marks that open and never close, or close what was not opened; `6"` stays. */
function inPairs(text: string): string {
  const odd = new Set<number>();
  let open: number | undefined;
  for (const { index } of text.matchAll(/"/g)) {
    const isOpening = /(^|[\s(—–-])$/u.test(text.slice(0, index));
    if (isOpening && open !== undefined) odd.add(open);
    if (!isOpening && open === undefined && !/\p{N}$/u.test(text.slice(0, index))) odd.add(index);
    open = isOpening ? index : undefined;
  }
  if (open !== undefined) odd.add(open);
  return text.replace(/"/g, (mark, index: number) => (odd.has(index) ? '' : mark));
}
