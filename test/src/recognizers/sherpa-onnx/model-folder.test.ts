import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { modelFamilies } from '../../../../src/recognizers/sherpa-onnx/model-families.ts';
import { readModelFolder } from '../../../../src/recognizers/sherpa-onnx/model-folder.ts';
import { makeEmptyModel } from '../../../support/models/tiny/empty.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Metadata } from '../../../support/models/tiny/empty.ts';

const made = useFolder();
let count = 0;
const folderOf = (files: readonly string[], metadata: Metadata = {}) =>
  makeEmptyModel(join(made, String((count += 1))), files, metadata);

const two = ['encoder.int8.onnx', 'decoder.int8.onnx', 'tokens.txt'];
const three = [...two, 'joiner.int8.onnx'];
const one = ['model.int8.onnx', 'tokens.txt'];
/** Names and metadata as sherpa-onnx's own scripts write them. */
const models: [family: string, files: string[], metadata: Metadata][] = [
  ['NeMo transducer (Parakeet, GigaAM)', three, { model_type: 'EncDecRNNTBPEModel' }],
  ['NeMo transducer (Parakeet, GigaAM)', three, { model_type: 'EncDecHybridRNNTCTCBPEModel' }],
  ['Whisper', ['tiny-encoder.int8.onnx', 'tiny-decoder.int8.onnx', 'tiny-tokens.txt'], { model_type: 'whisper-tiny' }],
  ['NeMo Canary', two, { model_type: 'EncDecMultiTaskModel' }],
  ['SenseVoice', one, { model_type: 'sense_voice_ctc' }],
  ['NeMo CTC (Parakeet, GigaAM)', one, { model_type: 'EncDecCTCModelBPE' }],
  ['NeMo CTC (Parakeet, GigaAM)', one, { model_type: 'EncDecHybridRNNTCTCBPEModel' }],
  ['Zipformer CTC', one, { model_type: 'zipformer2_ctc' }],
  ['FireRedASR CTC', one, { model_type: 'fire-red-asr-2-ctc', cmvn_mean: 0 }],
  ['Dolphin', one, { mean: 0, invstd: 1, vocab_size: 40000 }],
  [
    'Moonshine',
    ['preprocess.onnx', 'encode.int8.onnx', 'uncached_decode.int8.onnx', 'cached_decode.int8.onnx', 'tokens.txt'],
    {},
  ],
  ['Moonshine 2', ['encoder_model.ort', 'decoder_model_merged.ort', 'tokens.txt'], {}],
];

test.each(models)('%s: %j with %j → known for what it is, with all its files', async (name, files, metadata) => {
  const folder = await folderOf(files, metadata);
  const { family, config } = await readModelFolder(folder);
  expect(family.name).toBe(name);
  const unused = files.filter((file) => !JSON.stringify(config).includes(JSON.stringify(resolve(folder, file))));
  expect(unused).toEqual([]);
});

test.each([
  ['encoder_attention_mask', 9_000],
  ['input_ids', undefined],
])('Moonshine 2 whose decoder has an input %s → chunks of %s ms', async (input, longestChunkMs) => {
  const folder = await folderOf(['encoder_model.ort', 'decoder_model_merged.ort', 'tokens.txt'], {});
  const beyondTheFirstRead = Buffer.concat([Buffer.alloc(1024 * 1024 - 5), Buffer.from(input)]);
  await writeFile(join(folder, 'decoder_model_merged.ort'), beyondTheFirstRead);
  expect((await readModelFolder(folder)).family.longestChunkMs).toBe(longestChunkMs);
});

test('each family is in the list above', () => {
  expect([...new Set(models.map(([name]) => name))].sort()).toEqual(modelFamilies.map(({ name }) => name).sort());
});

test.each([
  ['a model for live streams', three, { model_type: 'zipformer2', decode_chunk_len: 32 }, /for live streams/],
  ['an unknown kind', one, { model_type: 'vits' }, /of an unknown kind, vits. Known are SenseVoice, /],
  ['a model that says nothing of itself', two, {}, /does not say its kind \(model_type\). Known are Whisper, /],
  [
    'no tokens.txt',
    ['encoder.onnx', 'decoder.onnx'],
    { model_type: 'whisper-tiny' },
    /lacks tokens.txt of a model like Whisper/,
  ],
  ['nothing', [], {}, /holds no model that sherpa-onnx runs/],
])('%s → says so', async (_, files, metadata: Metadata, message) => {
  await expect(readModelFolder(await folderOf(files, metadata))).rejects.toThrow(message);
});

test.each([
  ['text', Buffer.from('this is a text')],
  ['a file that ends too early', Buffer.from([0x3a, 0xff, 0xff, 0x7f, 1, 2, 3])],
])('a model file that is %s → says that it is no model', async (_, content) => {
  const folder = await folderOf(one);
  await writeFile(join(folder, 'model.int8.onnx'), content);
  await expect(readModelFolder(folder)).rejects.toThrow('is no ONNX model');
});

test('only what is loaded counts, with the weights beside it', async () => {
  const folder = await folderOf(['model.onnx', ...one], { model_type: 'sense_voice_ctc' });
  const { bytes } = await readModelFolder(folder);
  await writeFile(join(folder, 'model.onnx'), Buffer.alloc(5_000));
  await writeFile(join(folder, 'README.md'), Buffer.alloc(3_000));
  await mkdir(join(folder, 'test_wavs'));
  expect((await readModelFolder(folder)).bytes).toBe(bytes);
  await writeFile(join(folder, 'model.int8.onnx.data'), Buffer.alloc(1_000));
  await writeFile(join(folder, 'model.int8.weights'), Buffer.alloc(100));
  expect((await readModelFolder(folder)).bytes).toBe(bytes + 1_100);
});
