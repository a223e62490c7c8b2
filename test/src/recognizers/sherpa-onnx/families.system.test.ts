/**
 * The real addon with a tiny model of families that `npm run model` knows (test/support/models/tiny). SenseVoice, which tells
 * times of words, is in sherpa-onnx.system.test.ts; Moonshine is heard by itself in test/src/worker/speech.test.ts.
 */
import { join } from 'node:path';
import { createSherpaOnnx } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { makeTinyCanary } from '../../../support/models/tiny/canary.ts';
import { makeTinyTransducer } from '../../../support/models/tiny/transducer.ts';
import { makeTinyWhisper } from '../../../support/models/tiny/whisper.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { recognizerConformance, toneSpeech } from '../conformance/conformance.ts';
import { makeRecordings } from '../conformance/recordings.ts';
import type { RecognizeOptions, Transcript } from '../../../../src/recognizers/recognizer.ts';

const made = useFolder();
const whisper = await makeTinyWhisper(join(made, 'whisper'));
const { signal } = new AbortController();

recognizerConformance('whisper', () => createSherpaOnnx({ folder: whisper }), await toneSpeech(made));

const spoken = await makeRecordings().ofTones(['low', 'high', 'high']);

async function heardBy(folder: string, options: Partial<RecognizeOptions> = {}): Promise<Transcript> {
  const recognizer = createSherpaOnnx({ folder });
  return recognizer.recognize(spoken, { signal, ...options }).finally(() => recognizer.close());
}

const timesOf = ({ segments }: Transcript) => segments.map(({ text, startMs, endMs }) => [text, startMs, endMs]);

test('Whisper → captions lie where its sentences are, no word has a made-up time, and it is told a language', async () => {
  const transcript = await heardBy(whisper);
  expect(timesOf(transcript)).toEqual([
    ['low', 300, 700],
    ['high', 1300, 1700],
    ['high', 2300, 2700],
  ]);
  expect(transcript.segments.flatMap(({ words }) => words)).toEqual([]);
  expect(transcript.language).toBe('en');
  expect((await heardBy(whisper, { language: 'de-AT' })).language).toBe('de');
});

test('Parakeet → words where they are said', async () => {
  const parakeet = await makeTinyTransducer(join(made, 'parakeet'));
  const words = (await heardBy(parakeet)).segments.flatMap((segment) => segment.words);
  expect(words.map(({ text }) => text)).toEqual(['low', 'high', 'high']);
  words.forEach(({ startMs }, index) => expect(Math.abs(startMs - (index * 1000 + 300))).toBeLessThanOrEqual(40));
});

test('Canary → hears the language that it is told, English if none; one that it does not know is refused', async () => {
  const canary = await makeTinyCanary(join(made, 'canary'));
  const english = await heardBy(canary);
  expect(english.language).toBe('en');
  const [[text, startMs, endMs], ...others] = timesOf(english) as [[string, number, number]];
  // It tells no times, so the text lies where its chunk is not silent.
  expect([text, startMs, others]).toEqual(['low high high', 300, []]);
  // Where a tone ends; which one is for the captions to say.
  expect([1_700, 2_700]).toContain(endMs);
  const german = await heardBy(canary, { language: 'de' });
  expect(german.language).toBe('de');
  expect(german.segments.map(({ text }) => text).join(' ')).toBe('tief hoch hoch');
  await expect(heardBy(canary, { language: 'it' })).rejects.toMatchObject({ known: ['de', 'en', 'es', 'fr'] });
});
