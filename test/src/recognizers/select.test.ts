import { recognizerNames } from '../../../src/recognizers/names.ts';
import { selectRecognizer } from '../../../src/recognizers/select.ts';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { onlySpeech } from '../../../src/recognizers/select.ts';
import { ffmpeg, noise, silence } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { DecodedAudio } from '../../../src/recognizers/recognizer.ts';

test('every name → the recognizer of that name', async () => {
  const openai = { baseUrl: 'http://127.0.0.1:8000/v1', apiKey: undefined, model: 'small' };
  const sherpaOnnxModel = { folder: '/models/tiny' };
  const settings = {
    dataDir: '/data',
    sherpaOnnxModel,
    recognizerIdleMinutes: 10,
    diarizationThreshold: 0.5,
    recognizerLanguage: undefined,
    openai,
    openAiMaxRequests: 256,
  };
  const selected = await Promise.all(
    recognizerNames.map((recognizer) => selectRecognizer({ recognizer, ...settings })),
  );
  expect(selected.map(({ name }) => name)).toEqual([...recognizerNames]);
});

/** A channel that nobody used costs no more than to decode it. */

const file = `${useFolder()}/decoded.raw`;
const { signal } = new AbortController();
const somewhere = [{ startMs: 100, endMs: 900 }];

async function decode(input: string[]): Promise<DecodedAudio> {
  const encoded = await ffmpeg(...input, `${file}.flac`);
  return {
    file,
    ...(await decodeAudio({ input: encoded, output: file, maxDurationMs: 60_000, timeLimitMs: 60_000 })),
  };
}

test.each([
  ['nothing but silence', silence(1.2345), false],
  ['noise after a silence', [...noise(1), '-af', 'adelay=2000'], true],
  ['noise', noise(1), true],
])('%s → is the detector asked? The recognizer hears only speech', async (_, input, isAsked) => {
  const asked: string[] = [];
  const heard: DecodedAudio['speech'][] = [];
  const nothing = async () => {};
  const detector = { check: nothing, close: nothing, findSpeech: async () => (asked.push('detector'), somewhere) };
  const recognize = async ({ speech }: DecodedAudio) => (heard.push(speech), { segments: [] });
  const recognizer = onlySpeech({ name: 'told', check: nothing, close: nothing, recognize }, detector);
  await recognizer.recognize(await decode(input), { signal });
  expect({ asked, heard }).toEqual(isAsked ? { asked: ['detector'], heard: [somewhere] } : { asked: [], heard: [[]] });
});
