/** Models without content: files with the names of a family, of which the first says what its maker wrote into it. */
import { whisperLanguages, whisperCodeOf } from '../../../../src/recognizers/whisper-languages.ts';
import { onnxModel, writeModel } from './onnx.ts';

export type Metadata = Record<string, string | number>;

/** @returns the folder */
export function makeEmptyModel(folder: string, files: readonly string[], metadata: Metadata): Promise<string> {
  const content = onnxModel({ metadata });
  return writeModel(folder, Object.fromEntries(files.map((file) => [file, file.endsWith('.onnx') ? content : ''])));
}

/** What the models that `npm run model` knows have in them. */
export function metadataOfKnown(name: string): Metadata {
  if (name.startsWith('sense-voice')) {
    const languages = ['auto', 'zh', 'en', 'ja', 'ko', 'yue'].map((code, index) => [`lang_${code}`, index]);
    return { model_type: 'sense_voice_ctc', ...Object.fromEntries(languages) };
  }
  if (name.startsWith('canary')) return { model_type: 'EncDecMultiTaskModel' };
  if (!name.startsWith('whisper')) return { model_type: 'EncDecRNNTBPEModel' };
  const codes = whisperLanguages.map((language) => whisperCodeOf(language)!);
  const own = /large-v3|turbo/.test(name) ? codes : codes.filter((code) => code !== 'yue');
  return {
    ...{ model_type: name, is_multilingual: name.endsWith('.en') ? 0 : 1 },
    ...(name.endsWith('.en') ? {} : { all_language_codes: own.join(',') }),
  };
}
