/** Languages that Whisper calls by another name than Unicode's tables. */
const whispersOwn: Record<string, string> = {
  bengali: 'bn',
  maori: 'mi',
  myanmar: 'my',
  nynorsk: 'nn',
  tagalog: 'fil',
};

const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];
/** The codes of two letters, and the languages of Whisper that have none. */
const codes = [...alphabet.flatMap((first) => alphabet.map((second) => first + second)), 'haw', 'yue', 'fil'];
const nameOf = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
const codesByName = new Map(codes.map((code) => [nameOf.of(code)?.toLowerCase(), canonical(code)] as const));

/**
 * Reads the language of an answer. OpenAI sends a name (`english`), other servers a code (`en`).
 * @returns a BCP 47 tag; undefined when the language is unknown
 */
export function toLanguageTag(language: unknown): string | undefined {
  if (typeof language !== 'string') return undefined;
  const told = language.trim().toLowerCase();
  return whispersOwn[told] ?? codesByName.get(told) ?? knownTag(told);
}

function knownTag(text: string): string | undefined {
  const tag = /^[a-z]{2,3}([-_][a-z0-9]{2,8}){0,3}$/.test(text) ? canonical(text.replaceAll('_', '-')) : undefined;
  return tag !== undefined && tag !== 'und' && nameOf.of(tag) !== undefined ? tag : undefined;
}

function canonical(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
