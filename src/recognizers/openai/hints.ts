/** What is said of a recording in the fields of a request to `/audio/transcriptions`. */
import { primaryOf } from '../../languages/tags.ts';
import { LanguageNotKnown } from '../recognizer.ts';
import { whisperCodeOf, whisperLanguages } from '../whisper-languages.ts';
import type { Hints } from '../recognizer.ts';
import type { Fields } from './exchange.ts';
import type { KnownSpeaker } from './known-speakers.ts';

export interface ChunkHints extends Hints {
  knownSpeakers?: readonly KnownSpeaker[] | undefined;
}

/** Fields that a server may refuse without being of no use: the same request is sent without them. */
const spared = [
  ['prompt', 'keywords'],
  ['known_speaker_names', 'known_speaker_references'],
] as const;

/**
 * @param isRefused whether the server refused a request because of a field
 * @returns the same fields without those; undefined when none was refused that can be spared
 */
export function withoutRefused(fields: Fields, isRefused: (field: RegExp) => boolean): Fields | undefined {
  const refused = spared.find(
    (names) => names.some((name) => name in fields) && isRefused(new RegExp(`\\b(${names.join('|')})\\b`)),
  );
  if (refused === undefined) return undefined;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !(refused as readonly string[]).includes(name)));
}

/** Whisper takes 224 tokens of a prompt, and Groq refuses more than 896 characters. */
const longestPrompt = 800;

/**
 * @param isWhisperCpp whether the server is whisper.cpp's own
 * @throws {LanguageNotKnown} whisper.cpp's server takes any language, and writes nonsense
 */
export function hintFields(hints: ChunkHints, model: string, isWhisperCpp: boolean): Fields {
  const { language, keyterms = [], knownSpeakers = [] } = hints;
  const code = language === undefined ? undefined : (whisperCodeOf(language) ?? primaryOf(language));
  if (language !== undefined && isWhisperCpp && whisperCodeOf(language) === undefined)
    throw new LanguageNotKnown(language, whisperLanguages);
  if (/(^|\/)gpt-transcribe/.test(model))
    return { ...(code && { languages: [code] }), ...(keyterms.length > 0 && { keywords: keyterms }) };
  const prompt = model.endsWith('-diarize') ? '' : promptOf(keyterms);
  // Without a language, whisper.cpp's server hears English in everything.
  const said = code ?? (isWhisperCpp ? 'auto' : undefined);
  const speakers = {
    known_speaker_names: knownSpeakers.map(({ name }) => name),
    known_speaker_references: knownSpeakers.map(({ sample }) => sample),
  };
  return {
    ...(said !== undefined && { language: said }),
    ...(prompt !== '' && { prompt }),
    ...(knownSpeakers.length > 0 && speakers),
  };
}

/** As many of the words as there is room for, the first ones first. */
function promptOf(keyterms: readonly string[]): string {
  let prompt = '';
  for (const term of keyterms) {
    const longer = prompt === '' ? term : `${prompt}, ${term}`;
    if (longer.length > longestPrompt) break;
    prompt = longer;
  }
  return prompt;
}

/** What servers call by two names, or by the name of the larger one. */
const macrolanguages: Record<string, string> = { nb: 'no', nn: 'no', yue: 'zh' };
const macrolanguageOf = (tag: string) => macrolanguages[primaryOf(tag)] ?? primaryOf(tag);

/**
 * Some servers take any language and hear the only one that their model knows; their answers say which.
 * @param answered as a BCP 47 tag; undefined when the answer says none
 * @throws {LanguageNotKnown}
 */
export function refuseOtherLanguage(asked: string | undefined, answered: string | undefined): void {
  if (asked === undefined || answered === undefined || macrolanguageOf(asked) === macrolanguageOf(answered)) return;
  throw new LanguageNotKnown(asked, undefined);
}
