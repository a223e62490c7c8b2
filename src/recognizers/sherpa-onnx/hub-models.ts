/** Models on the Hugging Face hub, in repositories of sherpa-onnx's author: where their files are, which are needed. */
import type { ModelDescription, ModelFile } from './model-description.ts';

export interface HubFile extends ModelFile {
  /** `owner/name` */
  repo: string;
  /** A commit, so that the files never change. */
  revision: string;
}

export interface HubModel extends ModelDescription {
  files: readonly HubFile[];
}

export const hubModels: readonly HubModel[] = [
  whisper('tiny', 103_609_903, '65176e2deb88badc814a94058666cadccc29b61c'),
  whisper('tiny.en', 103_627_191, 'd026532c022fa99fd789d6b32446a1df7b6bfc43'),
  whisper('base', 160_609_290, 'bb53ee204431c90d314c1cc08d28d23e5b7927cc'),
  whisper('base.en', 160_626_066, '59eea950fc76df2453efb57e6c0fd334548e8ffe'),
  whisper('small', 375_485_327, '8f3c18b358db4d1f2fc1eae49d75cd20989e4309'),
  whisper('small.en', 375_501_079, 'd9533f69affd85061aee349af7fea5cb2996dbbe'),
  whisper('medium', 946_072_270, '8c31d28503847560985df21f90e14f0c736e075e'),
  whisper('large-v3', 1_775_753_918, '2a6507094dd6020d939d78e3f1834a1d06267fca'),
  whisper('turbo', 1_036_613_791, '2ca6ff69fc878651b770880507669577ac41c2ff', 'whisper-large-v3-turbo'),
  ofTransducer('parakeet-unified-en-0.6b', 'English', 663_043_117, {
    repo: 'csukuangfj2/sherpa-onnx-nemo-parakeet-unified-en-0.6b-int8-non-streaming',
    revision: '8c3a10fb13408c7a7054f6898958bf1c64a8d6c7',
  }),
  parakeet('v3', '25 European languages', 670_478_772, '2bda32ec70b097a55adaa07d9a7173915b43cc78'),
  parakeet('v2', 'English', 661_190_513, '1ab9323565ddb038682214b292f588070a538ce2'),
  {
    ...{ name: 'canary-180m-flash', kind: 'recognition', languages: 'English, German, Spanish, French' },
    ...{ bytes: 207_170_046, speed: 'fast', times: 'no' },
    files: filesOf('nemo-canary-180m-flash-en-es-de-fr-int8', '9077164e0d3dd1d5353743e89ceaa1d3a770838c', [
      ...['encoder.int8.onnx', 'decoder.int8.onnx', 'tokens.txt'],
    ]),
  },
  {
    name: 'sense-voice',
    kind: 'recognition',
    languages: 'Chinese, Cantonese, English, Japanese, Korean',
    bytes: 239_549_735,
    ...{ speed: 'fast', times: 'words' },
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
];

function whisper(size: string, bytes: number, revision: string, name = `whisper-${size}`): HubModel {
  const names = [`${size}-encoder.int8.onnx`, `${size}-decoder.int8.onnx`, `${size}-tokens.txt`];
  const languages = size.endsWith('.en') ? 'English' : '99 languages';
  const speed = /^(tiny|base)/.test(size) ? 'fast' : /^(small|turbo)/.test(size) ? 'medium' : 'slow';
  const files = filesOf(`whisper-${size}`, revision, names);
  return { name, kind: 'recognition', languages, bytes, speed, times: 'sentences', files };
}

function parakeet(version: string, languages: string, bytes: number, revision: string): HubModel {
  const name = `parakeet-tdt-0.6b-${version}`;
  return ofTransducer(name, languages, bytes, { repo: `csukuangfj/sherpa-onnx-nemo-${name}-int8`, revision });
}

function ofTransducer(
  name: string,
  languages: string,
  bytes: number,
  { repo, revision }: Pick<HubFile, 'repo' | 'revision'>,
): HubModel {
  const names = ['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt'];
  const files = filesIn(repo, revision, names);
  return { name, kind: 'recognition', languages, bytes, speed: 'fast', times: 'words', files };
}

function filesOf(repo: string, revision: string, names: readonly string[]): HubFile[] {
  return filesIn(`csukuangfj/sherpa-onnx-${repo}`, revision, names);
}

function filesIn(repo: string, revision: string, names: readonly string[]): HubFile[] {
  return names.map((name) => ({ repo, revision, path: name, name }));
}
