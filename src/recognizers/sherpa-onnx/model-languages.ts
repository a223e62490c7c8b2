/** Which languages a model knows, and how it is told one. */
import { basename } from 'node:path';
import { primaryOf } from '../../languages.ts';
import { LanguageNotKnown } from '../recognizer.ts';
import { whisperCodeOf, whisperLanguages } from '../whisper-languages.ts';
import type { SherpaModel } from './model-folder.ts';

const ofSenseVoice = ['en', 'ja', 'ko', 'yue', 'zh'];
/** Parakeet v3, which finds out the language by itself. */
const ofParakeet3 = 'bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk'.split(' ');

/** By the name of the folder, which is the model's own here and in sherpa-onnx's archives. */
const byName: readonly (readonly [pattern: RegExp, languages: readonly string[]])[] = [
  [/parakeet-tdt-0\.6b-v3/, ofParakeet3],
  [/parakeet-tdt-0\.6b-v2/, ['en']],
  [/^moonshine-(tiny|base)$|moonshine-(tiny|base)-en\b/, ['en']],
];

/**
 * The languages that a model knows, as BCP 47 tags.
 * @returns undefined when nothing tells
 */
export function languagesOf({ kind, config }: SherpaModel, folder: string): readonly string[] | undefined {
  if (kind === 'sense-voice') return ofSenseVoice;
  if (kind !== 'whisper') return byName.find(([pattern]) => pattern.test(basename(folder)))?.[1];
  const name = basename(config.whisper!.encoder);
  if (/\.en-encoder/.test(name)) return ['en'];
  return /large-v3|turbo/.test(name) ? whisperLanguages : whisperLanguages.filter((language) => language !== 'yue');
}

/**
 * What to tell a model.
 * @param known see {@link languagesOf}
 * @returns the model's own code; undefined where there is nothing to tell
 * @throws {LanguageNotKnown}
 */
export function toldTo(
  { kind }: SherpaModel,
  known: readonly string[] | undefined,
  language: string | undefined,
): string | undefined {
  if (language === undefined) return undefined;
  const primary = primaryOf(language);
  const isKnown = known?.includes(primary) || (kind === 'whisper' && known?.includes('no') && primary === 'nb');
  if (!isKnown) throw new LanguageNotKnown(language, known);
  if (kind === 'whisper') return known?.length === 1 ? undefined : whisperCodeOf(language);
  return kind === 'sense-voice' ? primary : undefined;
}
