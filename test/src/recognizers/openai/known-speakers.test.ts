/** A conversation of a low and a high voice, longer than servers take at once; a server that tells voices apart. */
import { join } from 'node:path';
import { withLastingNames, withOwnNames } from '../../../../src/recognizers/openai/known-speakers.ts';
import { asRecognizerInput, ffmpeg } from '../../../support/uploads/audio-fixtures.ts';
import { refusal } from '../../../support/models/speech-server.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { signal, useAsking } from './asking.ts';
import type { AnsweredChunk } from '../../../../src/recognizers/openai/server-answers.ts';
import type { Received, Reply } from '../../../support/models/speech-server.ts';

const folder = useFolder();
const turnSeconds = 5;
const chunkSeconds = 590;
const seconds = 660;
const wavHeaderBytes = 44;
const { ask } = useAsking();

let conversation: string;
beforeAll(async () => {
  // They take turns. Whoever begins the first chunk does not begin the second.
  const isLow = `if(lt(t,${chunkSeconds}),lt(mod(t,${2 * turnSeconds}),${turnSeconds}),gte(mod(t,${2 * turnSeconds}),${turnSeconds}))`;
  const voice = `aevalsrc='if(${isLow},0.3*sin(2*PI*t*300),0.1*sin(2*PI*t*3000))':s=16000:d=${seconds}`;
  conversation = await ffmpeg('-f', 'lavfi', '-i', voice, ...asRecognizerInput, join(folder, 'conversation'));
});

/** Which voice speaks in each turn of 5 s, and in what is left of the last one: the low one is louder. */
function voicesIn(audio: Buffer): ('low' | 'high')[] {
  const samples = new Int16Array(Uint8Array.from(audio.subarray(wavHeaderBytes)).buffer);
  const turn = turnSeconds * 16_000;
  return Array.from({ length: Math.ceil(samples.length / turn) }, (_, index) =>
    samples.subarray(index * turn, (index + 1) * turn).some((sample) => sample > 6_000) ? 'low' : 'high',
  );
}

/** Hears what was sent. The first voice that nobody knows is called A, and the next one B. */
function diarized({ fields, file }: Received): Reply {
  const names = new Map<string, string>();
  for (const [index, name] of (fields['known_speaker_names[]'] ?? []).entries()) {
    const sample = /^data:audio\/wav;base64,(.+)$/.exec(fields['known_speaker_references[]']![index]!)![1]!;
    const [voice] = voicesIn(Buffer.from(sample, 'base64'));
    names.set(voice!, name);
  }
  const voices = voicesIn(file!.bytes);
  const segments = voices.map((voice, id) => {
    if (!names.has(voice)) names.set(voice, 'AB'[names.size]!);
    const [start, end] = [id * turnSeconds, (id + 1) * turnSeconds];
    return { type: 'transcript.text.segment', id: `seg_${id}`, start, end, text: voice, speaker: names.get(voice) };
  });
  return { status: 200, body: { task: 'transcribe', text: voices.join(' '), segments } };
}

async function recognize(script: (request: Received) => Reply) {
  const { server, recognizer } = await ask(script, { model: 'x-diarize' });
  const audio = { file: conversation, durationMs: seconds * 1000, silences: [] };
  const { segments } = await recognizer.recognize(audio, { signal });
  return { segments, requests: server.requests };
}

test('a conversation of two chunks → a voice has one name in both: the second is sent with samples of the first', async () => {
  const { segments, requests } = await recognize(diarized);
  expect(segments).toHaveLength(seconds / turnSeconds);
  const namedBy = segments.map(({ text, speaker }) => `${text} ${speaker}`);
  expect(new Set(namedBy)).toEqual(new Set(['low S1', 'high S2']));
  expect(segments.at(chunkSeconds / turnSeconds)).toMatchObject({ text: 'high', startMs: 590_000 });
  for (const { fields } of requests)
    expect(fields).toMatchObject({ response_format: ['diarized_json'], chunking_strategy: ['auto'] });
  expect(requests.map(({ fields }) => fields['known_speaker_names[]'])).toEqual([undefined, ['known-1', 'known-2']]);
});

/** As servers that don't know the fields. */
const ignoring = ({ fields: { 'known_speaker_names[]': _names, ...fields }, ...request }: Received) =>
  diarized({ ...request, fields });
const refusing = (request: Received) =>
  'known_speaker_references[]' in request.fields
    ? refusal(400, "Unknown parameter: 'known_speaker_references'.", 'known_speaker_references')
    : diarized(request);
test.each([
  ['takes no notice of', ignoring, 2],
  ['refuses', refusing, 3],
])(
  'a server that %s the samples → no speakers: its A of one chunk may be the B of the next',
  async (_, script, sent) => {
    const { segments, requests } = await recognize(script);
    expect(segments).toHaveLength(seconds / turnSeconds);
    expect(segments.filter(({ speaker }) => speaker !== undefined)).toEqual([]);
    expect(requests).toHaveLength(sent);
  },
);

test('somebody who comes later, and somebody whose sample was too short → another person in each chunk, also in one that is sent once more in part', () => {
  const known = [{ label: '0-10 A', name: 'known-1', sample: '' }];
  const answered = ([startMs, endMs]: [number, number], ...speakers: string[]): AnsweredChunk => {
    const chunk = { startMs, endMs, windowStartMs: startMs, windowEndMs: endMs };
    const utterances = speakers.map((speaker, at) => [{ text: 'so', startMs: at, endMs: at + 1, speaker }]);
    return withOwnNames({ chunk, timesOf: 'segments', utterances, language: undefined }, known);
  };
  const heard = [
    answered([0, 10], 'A', 'B'),
    answered([0, 5], 'A'),
    answered([10, 20], 'known-1', 'A'),
    answered([20, 30], 'A', 'known-1'),
  ];
  const named = withLastingNames(heard, { chunk: heard[0]!.chunk, speakers: known });
  expect(named.map(({ utterances }) => utterances.flat().map(({ speaker }) => speaker))).toEqual([
    ['known-1', '0-10 B'],
    ['0-5 A'],
    ['known-1', '10-20 A'],
    ['20-30 A', 'known-1'],
  ]);
});
