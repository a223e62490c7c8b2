/** Which languages a model knows, and how it is told one. */
import { basename } from 'node:path';
import { canonicalTag, primaryOf } from '../../languages/tags.ts';
import { LanguageNotKnown } from '../recognizer.ts';
import { whisperCodeOf } from '../whisper-languages.ts';
import type { SherpaModel } from './model-folder.ts';
import type { OnnxMetadata } from './onnx-metadata.ts';

/** Parakeet v3, which finds out the language by itself. */
const ofParakeet3 = 'bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk'.split(' ');

/** By the name of the folder, which is the model's own here and in sherpa-onnx's archives. */
const byName: readonly (readonly [pattern: RegExp, languages: readonly string[]])[] = [
  [/parakeet-tdt-0\.6b-v3/, ofParakeet3],
  [/parakeet-tdt-0\.6b-v2|parakeet-unified-en/, ['en']],
  [/^moonshine-tiny-[\d.]+$|moonshine-(tiny|base)-en\b/, ['en']],
];

/**
 * The languages that a model knows, as BCP 47 tags: those that its maker wrote into it, those of its kind, or those of a
 * model that is known by the name of its folder.
 * @returns undefined when nothing tells
 */
export function languagesOf({ family, metadata }: SherpaModel, folder: string): readonly string[] | undefined {
  const named = byName.find(([pattern]) => pattern.test(basename(folder)))?.[1];
  return writtenIn(metadata) ?? family.languages ?? named;
}

/** Whisper and SenseVoice have their languages in them. */
function writtenIn(metadata: OnnxMetadata): string[] | undefined {
  if (metadata.get('is_multilingual') === '0') return ['en'];
  const ofWhisper = metadata.get('all_language_codes')?.split(',') ?? [];
  const ofSenseVoice = [...metadata.keys()].flatMap((key) => /^lang_(?!auto)(\w+)$/.exec(key)?.[1] ?? []);
  const tags = [...ofWhisper, ...ofSenseVoice].flatMap((code) => canonicalTag(code) ?? []);
  return tags.length > 0 ? tags.sort() : undefined;
}

/**
 * What to tell a model.
 * @param known see {@link languagesOf}
 * @returns the model's own code; undefined where there is nothing to tell
 * @throws {LanguageNotKnown}
 */
export function modelLanguageCode(
  { family: { told } }: SherpaModel,
  known: readonly string[] | undefined,
  language: string | undefined,
): string | undefined {
  if (language === undefined) return undefined;
  const primary = primaryOf(language);
  const isKnown = known?.includes(primary) || (told === 'whisper' && known?.includes('no') && primary === 'nb');
  if (!isKnown) throw new LanguageNotKnown(language, known);
  if (told === 'whisper') return known?.length === 1 ? undefined : whisperCodeOf(language);
  return told === 'primary subtag' ? primary : undefined;
}
