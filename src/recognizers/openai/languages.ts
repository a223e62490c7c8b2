/** Whisper's names of languages that Unicode's tables call something else. */
const whispersOwn: Record<string, string> = {
  bengali: 'bn',
  maori: 'mi',
  myanmar: 'my',
  nynorsk: 'nn',
  tagalog: 'fil',
};

const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];
/** Whisper knows two languages that have no code of two letters. */
const codes = [...alphabet.flatMap((first) => alphabet.map((second) => first + second)), 'haw', 'yue', 'fil'];
const nameOf = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
const codesByName = new Map(codes.map((code) => [nameOf.of(code)?.toLowerCase(), canonical(code)] as const));

/**
 * The language that a server tells: OpenAI a name (`english`), others a code (`en`).
 * @returns a BCP 47 tag, or undefined when it is none that is known
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
