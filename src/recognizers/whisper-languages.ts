import { canonicalTag, primaryOf } from '../languages/tags.ts';

/** Whisper's own codes (openai/whisper, `tokenizer.py`). `yue` came with large-v3. */
const codes =
  'af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ' +
  'ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn ' +
  'so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue zh';

/** `jw` is `jv` today, and `tl` is `fil`. */
const codesByLanguage = new Map(codes.split(' ').map((code) => [canonicalTag(code)!, code]));

export const whisperLanguages: readonly string[] = [...codesByLanguage.keys()];

/** What Whisper calls the language of a tag; undefined when it does not know it. */
export function whisperCodeOf(tag: string): string | undefined {
  const language = primaryOf(tag);
  // Bokmål is what Whisper means by Norwegian.
  return language === 'nb' ? 'no' : codesByLanguage.get(language);
}
