import { onlySpeech } from '../../../src/recognizers/select.ts';
import type { DecodedAudio } from '../../../src/recognizers/recognizer.ts';

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
