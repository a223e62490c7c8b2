/** Makes words comparable, so that differences that can't be heard are no errors. */

/**
 * Lower case without punctuation, as speech is compared everywhere, and as far as English goes: `1,250` is `one thousand
 * two hundred fifty`, `3.5` `three point five`, `21st` `twenty first`, `%` and `&` are words, `Mr.`, `Mrs.` and `Dr.` are
 * written out. Apostrophes stay inside words, hyphens separate them. A character of Chinese or Japanese is a word.
 *
 * Not done: years and telephone numbers as people read them, spellings (`colour`), contractions (`don't`), fillers (`uh`).
 */
export function normalWords(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[’‘`]/g, "'")
      .replace(/\d{1,3}(,\d{3})+(?!\d)/g, (digits) => digits.replaceAll(',', ''))
      // A number may have letters right after it: `3pm`.
      .replace(/(\d+)(?:\.(\d+)|(st|nd|rd|th)\b)?/g, (_, whole: string, decimals?: string, ordinal?: string) => {
        const words = ordinal === undefined ? inWords(whole) : toOrdinal(inWords(whole));
        return ` ${[...words, ...(decimals === undefined ? [] : ['point', ...digitByDigit(decimals)])].join(' ')} `;
      })
      .replaceAll('%', ' percent ')
      .replaceAll('&', ' and ')
      .replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, ' $& ')
      .replace(/[^\p{L}\p{M}\p{N}']+/gu, ' ')
      .split(' ')
      .map((word) => word.replace(/^'+|'+$/g, ''))
      .filter((word) => word !== '')
      .map((word) => writtenOut[word] ?? word)
  );
}

const writtenOut: Record<string, string> = { mr: 'mister', mrs: 'missus', dr: 'doctor' };

const upToNineteen = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
  ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
];
const tens = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const sizes: readonly [number, string][] = [
  [1e9, 'billion'],
  [1e6, 'million'],
  [1000, 'thousand'],
  [100, 'hundred'],
];

/** A number that begins with 0, or has more than twelve digits, is read digit by digit. */
function inWords(digits: string): string[] {
  return /^(0|[1-9]\d{0,11})$/.test(digits) ? cardinal(Number(digits)) : digitByDigit(digits);
}

const digitByDigit = (digits: string) => [...digits].map((digit) => upToNineteen[Number(digit)]!);

function cardinal(value: number): string[] {
  const small = upToNineteen[value];
  if (small !== undefined) return [small];
  const [size, name] = sizes.find(([candidate]) => value >= candidate) ?? [10, ''];
  const [count, rest] = [Math.floor(value / size), value % size];
  const head = size === 10 ? [tens[count]!] : [...cardinal(count), name];
  return rest === 0 ? head : [...head, ...cardinal(rest)];
}

const irregular: Record<string, string> = {
  ...{ one: 'first', two: 'second', three: 'third', five: 'fifth', eight: 'eighth', nine: 'ninth', twelve: 'twelfth' },
};

function toOrdinal(words: readonly string[]): string[] {
  const last = words.at(-1)!;
  return [...words.slice(0, -1), irregular[last] ?? `${last.replace(/y$/, 'ie')}th`];
}
