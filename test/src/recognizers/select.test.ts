import { recognizerNames } from '../../../src/recognizers/names.ts';
import { onlySpeech, selectRecognizer } from '../../../src/recognizers/select.ts';
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

test.each([
  ['a channel that nobody used', [{ startMs: 0, endMs: 1_000 }], false],
  ['a channel with silence in it', [{ startMs: 0, endMs: 900 }], true],
  ['a channel without silence', [], true],
])('%s → is the detector asked? The recognizer hears only speech', async (_, silences, isAsked) => {
  const speech = [{ startMs: 100, endMs: 900 }];
  const asked: string[] = [];
  const heard: DecodedAudio['speech'][] = [];
  const nothing = async () => {};
  const detector = { check: nothing, close: nothing, findSpeech: async () => (asked.push('detector'), speech) };
  const recognize = async (audio: DecodedAudio) => (heard.push(audio.speech), { segments: [] });
  const recognizer = onlySpeech({ name: 'told', check: nothing, close: nothing, recognize }, detector);
  const { signal } = new AbortController();
  await recognizer.recognize({ file: 'unread', durationMs: 1_000, silences }, { signal });
  expect({ asked, heard }).toEqual(isAsked ? { asked: ['detector'], heard: [speech] } : { asked: [], heard: [[]] });
});
