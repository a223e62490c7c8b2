import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findKnownModel, knownModels } from '../../../../src/recognizers/sherpa-onnx/known-models.ts';
import { packedModels } from '../../../../src/recognizers/sherpa-onnx/known-models.ts';
import { readModelFolder } from '../../../../src/recognizers/sherpa-onnx/model-folder.ts';
import { makeEmptyModel, metadataOfKnown } from '../../../support/models/tiny/empty.ts';

const recognizing = knownModels.filter(({ kind }) => kind === 'recognition');

test.each(recognizing)('the files of $name → a folder that is known for such a model', async ({ name, files }) => {
  const folder = await mkdtemp(join(tmpdir(), 'known-model-'));
  try {
    const names = files.map((file) => file.name).filter((file) => file !== 'LICENSE');
    await makeEmptyModel(folder, names, metadataOfKnown(name));
    const { config } = await readModelFolder(folder);
    // Each file has a use, and no two of them the same.
    const used = names.filter((file) => JSON.stringify(config).includes(JSON.stringify(join(folder, file))));
    expect(used).toEqual(names);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('all models → names of their own, commits or checksums, and names of files that can not lead elsewhere', () => {
  expect(new Set(knownModels.map(({ name }) => name)).size).toBe(knownModels.length);
  for (const { name, bytes, files } of knownModels) {
    expect(name).toMatch(/^[a-z0-9.-]+$/);
    expect(bytes).toBeGreaterThan(1_000_000);
    for (const file of files) {
      if ('repo' in file) {
        expect(file.revision).toMatch(/^[0-9a-f]{40}$/);
        expect(file.repo).toMatch(/^[\w.-]+\/[\w.-]+$/);
      } else {
        expect(file.package).toMatch(/^(@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+$/);
        expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
      }
      expect(file.name).toMatch(/^([\w-][\w.-]*\.(onnx|txt)|LICENSE)$/);
    }
  }
});

test('a new version of a package → another folder, so that nobody takes the old files for the new ones', () => {
  for (const { version, files } of packedModels) {
    expect(files.map((file) => file.package)).toContainEqual(expect.stringMatching(new RegExp(`@${version}$`)));
  }
});

test('diarization → the two files that tell speakers apart', () => {
  expect(findKnownModel('diarization')!.files.map(({ name }) => name)).toEqual(['segmentation.onnx', 'embedding.onnx']);
});
