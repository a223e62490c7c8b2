/** Which of PostgreSQL's dictionaries brings a word of a language to its stem. */

export interface Language {
  /** Two letters before each of its words in the index: a word is looked for in its own language only. */
  mark: string;
  /** None: words are taken as they are. */
  dictionary?: string;
  /** Whether words are joined into long ones, as in `Arbeitsvertrag`. */
  joinsWords?: boolean;
}

/** One with a dictionary, which PostgreSQL has since its version 13. */
export type StemmedLanguage = Language & { dictionary: string };

/** By the first part of a BCP 47 tag. */
const known: Record<string, Omit<StemmedLanguage, 'mark'>> = {
  ar: { dictionary: 'arabic_stem' },
  da: { dictionary: 'danish_stem', joinsWords: true },
  de: { dictionary: 'german_stem', joinsWords: true },
  el: { dictionary: 'greek_stem' },
  en: { dictionary: 'english_stem' },
  es: { dictionary: 'spanish_stem' },
  fi: { dictionary: 'finnish_stem', joinsWords: true },
  fr: { dictionary: 'french_stem' },
  ga: { dictionary: 'irish_stem' },
  hu: { dictionary: 'hungarian_stem', joinsWords: true },
  id: { dictionary: 'indonesian_stem' },
  it: { dictionary: 'italian_stem' },
  lt: { dictionary: 'lithuanian_stem' },
  ne: { dictionary: 'nepali_stem' },
  nl: { dictionary: 'dutch_stem', joinsWords: true },
  no: { dictionary: 'norwegian_stem', joinsWords: true },
  pt: { dictionary: 'portuguese_stem' },
  ro: { dictionary: 'romanian_stem' },
  ru: { dictionary: 'russian_stem' },
  sv: { dictionary: 'swedish_stem', joinsWords: true },
  ta: { dictionary: 'tamil_stem' },
  tr: { dictionary: 'turkish_stem' },
};

/** For texts in any other language, for numbers, and for scripts without spaces. */
export const simple: Language = { mark: '--' };

const byMark = new Map<string, StemmedLanguage>(
  Object.entries(known).map(([mark, language]) => [mark, { mark, ...language }]),
);
const other: Record<string, string> = { nb: 'no', nn: 'no', in: 'id' };

/** @param tag BCP 47, such as `de-AT`; null: unknown */
export function languageOf(tag: string | null | undefined): Language {
  const primary = tag?.split('-')[0]!.toLowerCase() ?? '';
  return byMark.get(other[primary] ?? primary) ?? simple;
}

/** Of these marks, those of languages with a dictionary. */
export const stemmedOf = (marks: readonly string[]): StemmedLanguage[] =>
  marks.flatMap((mark) => byMark.get(mark) ?? []);
