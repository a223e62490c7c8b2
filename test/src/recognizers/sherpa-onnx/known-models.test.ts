import { basename, join } from 'node:path';
import {
  findKnownModel,
  knownModels,
  modelFolder,
  packedModels,
} from '../../../../src/recognizers/sherpa-onnx/known-models.ts';
import { modelLanguageCode, readModelFolder } from '../../../../src/recognizers/sherpa-onnx/model-folder.ts';
import { makeEmptyModel, metadataOfKnown } from '../../../support/models/tiny/empty.ts';
import { useFolder } from '../../../support/use-folder.ts';

const made = useFolder();

/** A model with these files, in a folder that ends with this name. */
const modelOf = async (name: string, files: readonly string[]) =>
  readModelFolder(await makeEmptyModel(join(made, name), files, metadataOfKnown(basename(name))));
const namesOf = (name: string) => findKnownModel(name)!.files.map((file) => file.name);
const ofKnown = (name: string) => modelOf(modelFolder('', findKnownModel(name)!), namesOf(name));

test.each(knownModels.filter(({ kind }) => kind === 'recognition'))(
  '$name → its files make a folder that is known for such a model, of as many languages as its list says',
  async ({ name, languages }) => {
    const { config, languages: known } = await ofKnown(name);
    // Each file has a use, and no two of them the same.
    const used = namesOf(name).filter((file) => JSON.stringify(config).includes(`/${file}"`));
    expect(used).toEqual(namesOf(name).filter((file) => file !== 'LICENSE'));
    const listed = /^(\d+) /.exec(languages)?.[1];
    // Cantonese came with large-v3.
    const more = /large-v3/.test(name) ? 1 : 0;
    expect(known!.filter((tag) => tag !== 'nb')).toHaveLength(
      listed === undefined ? languages.split(', ').length : Number(listed) + more,
    );
    expect(known!.every((tag) => Intl.getCanonicalLocales(tag)[0] === tag)).toBe(true);
    expect(known).toContain('en');
  },
);

test('a new version of a package → another folder, so that nobody takes the old files for the new ones', () => {
  for (const { version, files } of packedModels) {
    expect(files.map((file) => file.package)).toContainEqual(expect.stringMatching(new RegExp(`@${version}$`)));
  }
});

test.each<[string, string, string, string | undefined]>([
  ['Whisper, which calls it otherwise', 'whisper-base', 'fil', 'tl'],
  ['Whisper, Bokmål', 'whisper-base', 'nb', 'no'],
  ['Whisper of English only, which has nothing to choose', 'whisper-base.en', 'en-GB', undefined],
  ['SenseVoice', 'sense-voice', 'zh-Hant', 'zh'],
  ['Parakeet, which finds out', 'parakeet-tdt-0.6b-v3', 'de', undefined],
])('a language that a model knows: %s → told in its own way', async (_, name, language, expected) => {
  const model = await ofKnown(name);
  expect(modelLanguageCode(model, language)).toBe(expected);
  expect(modelLanguageCode(model, undefined)).toBeUndefined();
});

test.each<[string, string[] | undefined]>([
  ['sherpa-onnx-nemo-parakeet-tdt-0.6b-v2-int8', ['en']],
  ['sherpa-onnx-nemo-transducer-giga-am-russian-2024-10-24', undefined],
])('a folder %s of no known model → the languages that its name tells, if it does', async (name, expected) => {
  const { languages } = await modelOf(name, ['encoder.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt']);
  expect(languages).toEqual(expected);
});
