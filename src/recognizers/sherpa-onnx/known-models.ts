/**
 * Models to which we gave names: where their files are on the Hugging Face hub (in repositories of sherpa-onnx's
 * author), and which files are needed.
 */

export interface HubFile {
  /** `owner/name` */
  repo: string;
  /** A commit, so that the files never change. */
  revision: string;
  path: string;
  /** The file's name in the model's folder. */
  name: string;
}

export interface KnownModel {
  name: string;
  kind: 'recognition' | 'diarization' | 'voice detection';
  languages: string;
  /** The size of all its files, for people. A download asks the hub. */
  bytes: number;
  files: readonly HubFile[];
}

export const knownModels: readonly KnownModel[] = [
  whisper('tiny', 103_609_903, '65176e2deb88badc814a94058666cadccc29b61c'),
  whisper('tiny.en', 103_627_191, 'd026532c022fa99fd789d6b32446a1df7b6bfc43'),
  whisper('base', 160_609_290, 'bb53ee204431c90d314c1cc08d28d23e5b7927cc'),
  whisper('base.en', 160_626_066, '59eea950fc76df2453efb57e6c0fd334548e8ffe'),
  whisper('small', 375_485_327, '8f3c18b358db4d1f2fc1eae49d75cd20989e4309'),
  whisper('small.en', 375_501_079, 'd9533f69affd85061aee349af7fea5cb2996dbbe'),
  whisper('medium', 946_072_270, '8c31d28503847560985df21f90e14f0c736e075e'),
  whisper('large-v3', 1_775_753_918, '2a6507094dd6020d939d78e3f1834a1d06267fca'),
  whisper('turbo', 1_036_613_791, '2ca6ff69fc878651b770880507669577ac41c2ff', 'whisper-large-v3-turbo'),
  parakeet('v3', '25 European languages', 670_478_772, '2bda32ec70b097a55adaa07d9a7173915b43cc78'),
  parakeet('v2', 'English', 661_190_513, '1ab9323565ddb038682214b292f588070a538ce2'),
  moonshine('tiny', 123_967_539, 'bf2b762c076d8ea61e2af0b3851c9564fb77552e'),
  moonshine('base', 286_929_760, '052b0798ad1bf046a140fdd4efcd9426530fa3f5'),
  {
    name: 'sense-voice',
    kind: 'recognition',
    languages: 'Chinese, Cantonese, English, Japanese, Korean',
    bytes: 239_549_735,
    files: filesOf('sense-voice-zh-en-ja-ko-yue-2024-07-17', '2365baeacb507f821a0c8120fcee3d484dba7a07', [
      ...['model.int8.onnx', 'tokens.txt'],
    ]),
  },
  {
    name: 'diarization',
    kind: 'diarization',
    languages: 'any',
    bytes: 46_250_196,
    files: [
      {
        repo: 'csukuangfj/sherpa-onnx-pyannote-segmentation-3-0',
        revision: '9403a6902bb58e3d5ae8c7e77c3422de279db2e0',
        // Not its int8 file: it saves only 4 MB and finds changes of speakers less exactly.
        path: 'model.onnx',
        name: 'segmentation.onnx',
      },
      {
        repo: 'csukuangfj/speaker-embedding-models',
        revision: '0743f301363dec56491a490f6d6cbc9d67f9a3bf',
        path: 'nemo_en_titanet_small.onnx',
        name: 'embedding.onnx',
      },
    ],
  },
  {
    name: 'vad',
    kind: 'voice detection',
    languages: 'any',
    bytes: 1_807_522,
    files: [
      {
        repo: 'csukuangfj/vad',
        revision: 'fba88cd2e921609e7675c3aaf51e0b9b295da4bc',
        path: 'silero_vad.onnx',
        name: 'silero_vad.onnx',
      },
    ],
  },
];

export function findKnownModel(name: string): KnownModel | undefined {
  return knownModels.find((model) => model.name === name);
}

function whisper(size: string, bytes: number, revision: string, name = `whisper-${size}`): KnownModel {
  const names = [`${size}-encoder.int8.onnx`, `${size}-decoder.int8.onnx`, `${size}-tokens.txt`];
  const languages = size.endsWith('.en') ? 'English' : '99 languages';
  return { name, kind: 'recognition', languages, bytes, files: filesOf(`whisper-${size}`, revision, names) };
}

function parakeet(version: string, languages: string, bytes: number, revision: string): KnownModel {
  const name = `parakeet-tdt-0.6b-${version}`;
  const names = ['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt'];
  return { name, kind: 'recognition', languages, bytes, files: filesOf(`nemo-${name}-int8`, revision, names) };
}

function moonshine(size: string, bytes: number, revision: string): KnownModel {
  const name = `moonshine-${size}`;
  const decoders = ['uncached_decode.int8.onnx', 'cached_decode.int8.onnx'];
  const files = filesOf(`${name}-en-int8`, revision, [
    'preprocess.onnx',
    'encode.int8.onnx',
    ...decoders,
    'tokens.txt',
  ]);
  return { name, kind: 'recognition', languages: 'English', bytes, files };
}

function filesOf(repo: string, revision: string, names: readonly string[]): HubFile[] {
  return names.map((name) => ({ repo: `csukuangfj/sherpa-onnx-${repo}`, revision, path: name, name }));
}
