import { basename, join } from 'node:path';
import { modelFolder } from '../../../../src/recognizers/sherpa-onnx/installed-models.ts';
import { findKnownModel, knownModels } from '../../../../src/recognizers/sherpa-onnx/known-models.ts';
import { languagesOf, modelLanguageCode } from '../../../../src/recognizers/sherpa-onnx/model-languages.ts';
import { readModelFolder } from '../../../../src/recognizers/sherpa-onnx/model-folder.ts';
import { LanguageNotKnown } from '../../../../src/recognizers/recognizer.ts';
import { makeEmptyModel, metadataOfKnown } from '../../../support/models/tiny/empty.ts';
import { useFolder } from '../../../support/use-folder.ts';

const folder = useFolder();

/** The languages of a model with these files, in a folder that ends with this name. */
async function modelOf(name: string, files: readonly string[]) {
  const own = await makeEmptyModel(join(folder, name), files, metadataOfKnown(basename(name)));
  const model = await readModelFolder(own);
  return { model, known: languagesOf(model, own) };
}
const ofKnown = (name: string) => {
  const known = findKnownModel(name)!;
  return modelOf(
    modelFolder('', known),
    known.files.map((file) => file.name),
  );
};
const transducer = ['encoder.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt'];

test.each(knownModels.filter(({ kind }) => kind === 'recognition'))(
  '$name → knows as many languages as its list says',
  async ({ name, languages }) => {
    const { known } = await ofKnown(name);
    const listed = /^(\d+) /.exec(languages)?.[1];
    // Cantonese came with large-v3.
    const more = /large-v3/.test(name) ? 1 : 0;
    expect(known).toHaveLength(listed === undefined ? languages.split(', ').length : Number(listed) + more);
    expect(known!.every((tag) => Intl.getCanonicalLocales(tag)[0] === tag)).toBe(true);
    expect(known).toContain('en');
  },
);

test.each<[string, string, string, string | undefined]>([
  ['Whisper', 'whisper-base', 'de-AT', 'de'],
  ['Whisper, which calls it otherwise', 'whisper-base', 'fil', 'tl'],
  ['Whisper, Bokmål', 'whisper-base', 'nb', 'no'],
  ['Whisper of English only, which has nothing to choose', 'whisper-base.en', 'en-GB', undefined],
  ['SenseVoice', 'sense-voice', 'zh-Hant', 'zh'],
  ['Parakeet, which finds out', 'parakeet-tdt-0.6b-v3', 'de', undefined],
])('a language that a model knows: %s → told in its own way', async (_, name, language, expected) => {
  const { model, known } = await ofKnown(name);
  expect(modelLanguageCode(model, known, language)).toBe(expected);
  expect(modelLanguageCode(model, known, undefined)).toBeUndefined();
});

test.each([
  ['whisper-base', 'yue'],
  ['whisper-base.en', 'de'],
  ['sense-voice', 'de'],
  ['parakeet-tdt-0.6b-v3', 'ja'],
  ['parakeet-tdt-0.6b-v2', 'de'],
  ['moonshine-tiny', 'ko'],
])('%s and %s → LanguageNotKnown, which says what it knows', async (name, language) => {
  const { model, known } = await ofKnown(name);
  expect(() => modelLanguageCode(model, known, language)).toThrow(LanguageNotKnown);
  expect(() => modelLanguageCode(model, known, language)).toThrow(expect.objectContaining({ known }));
});

test.each<[string, string[] | undefined]>([
  ['sherpa-onnx-nemo-parakeet-tdt-0.6b-v2-int8', ['en']],
  ['sherpa-onnx-nemo-transducer-giga-am-russian-2024-10-24', undefined],
])('a folder %s of no known model → the languages that its name tells, if it does', async (name, expected) => {
  expect((await modelOf(name, transducer)).known).toEqual(expected);
});
