/** Texts that are made like speech: few words make most of it, and many are said once. The same in every run. */
import { randomFrom } from './random.ts';

const vocabulary = 30_000;
const wordsInSegment = 10;
const consonants = 'bcdfghjklmnprstvwxyz';
const vowels = 'aeiou';
const endings = ['', '', '', '', 's', 'ed', 'ing'];

export interface SpokenText {
  segments: string[];
  /** A word that no other of these texts has. */
  own: string;
}

/** In all texts. */
export const everywhere = 'everywhere';
/** In one of a hundred. */
export const sometimes = 'sometimes';
/** In one of a hundred; in the others both words are there, apart. */
export const phrase = 'northern lights';
/** In none. */
export const nowhere = 'nowhere';

/** The most common words of spoken English, roughly in their order. */
const shortWords =
  'the i and you it that a to of in is was so we they not have do this what for but on be he are with if just as or at she my there all me about can no when out from them then how more will some who which had his were an by been their our because up very only over other such than too any few both own same here why where these those am did does having being before after again further once off down under until while above below between through during into against nor each most her him your its'.split(
    ' ',
  );

/** The more common a word, the shorter. @param rank from 0 */
function wordOf(rank: number): string {
  const letters = (number: number) =>
    `${consonants[number % 20]}${vowels[Math.floor(number / 20) % 5]}${consonants[Math.floor(number / 100) % 20]}`;
  if (rank < shortWords.length) return shortWords[rank]!;
  const start = letters(rank % 2_000);
  if (rank < 200) return start;
  return `${start}${vowels[rank % 5]}${consonants[Math.floor(rank / 2_000)]}${rank < 2_000 ? '' : 'er'}`;
}

/** How often a word of a rank is said, as Zipf found it. */
const shares = (() => {
  let sum = 0;
  return Array.from({ length: vocabulary }, (_, rank) => (sum += 1 / (rank + 5) ** 1.4));
})();

function rankAt(share: number): number {
  const wanted = share * shares.at(-1)!;
  let [low, high] = [0, vocabulary - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shares[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param number of the text, from 0 @param words how many, at least 20 */
export function textOf(number: number, words: number): SpokenText {
  const random = randomFrom(number + 1);
  const said = Array.from({ length: words }, () => {
    const ending = endings[Math.floor(random() * endings.length)]!;
    const rank = rankAt(random());
    return rank < 200 ? wordOf(rank) : wordOf(rank) + ending;
  });
  const own = `own${[...String(number)].map((digit) => 'bcdfghjklm'[Number(digit)]).join('o')}`;
  const [first, second] = phrase.split(' ') as [string, string];
  const isOneOfHundred = number % 100 === 7;
  const planted = [
    own,
    everywhere,
    first,
    isOneOfHundred ? second : 'red',
    second,
    ...(isOneOfHundred ? [sometimes] : []),
  ];
  const at = Math.floor(random() * (words - planted.length));
  said.splice(at, planted.length, ...planted);
  const segments = Array.from({ length: Math.ceil(words / wordsInSegment) }, (_, index) =>
    said.slice(index * wordsInSegment, (index + 1) * wordsInSegment).join(' '),
  );
  return { segments, own };
}
