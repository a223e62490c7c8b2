/** The default, as a fresh checkout has it: Moonshine tiny and Silero's detector, on human voices. */
import { readConfig } from '../../../src/config.ts';
import { selectRecognizer } from '../../../src/recognizers/select.ts';
import { errorRate, sumOf, wordErrors } from '../../../scripts/bench/word-errors.ts';
import { speechClips } from '../../support/uploads/audio-fixtures.ts';
import { makeRecordings } from './conformance/recordings.ts';

const recordings = makeRecordings();
const recognizer = await selectRecognizer(readConfig({}));
afterAll(() => Promise.all([recognizer.close(), recordings.remove()]));

const golden = [
  'And Mr. John Dashwood had then leisure to consider how much there might be prudently in his power to do for them.',
  'He was not an ill-sposed young man.',
  'Unless to be rather cold-hearted and rather selfish, is to be ill-disposed,',
  'Had he married a more amiable woman, he might have been made still more respectable than he was.',
  'He might even have been made amiable himself.',
];

test('five clips of a reader → the golden text, at most 4 of 100 words wrong', async () => {
  const clips = await speechClips();
  const texts: string[] = [];
  for (const { file } of clips) {
    const audio = await recordings.made('-i', file);
    const { segments, language } = await recognizer.recognize(audio, { signal: new AbortController().signal });
    texts.push(segments.map(({ text }) => text).join(' '));
    expect(language).toBe('en');
  }
  expect(texts).toEqual(golden);
  expect(errorRate(sumOf(clips.map(({ text }, index) => wordErrors(text, texts[index]!))))).toBeLessThanOrEqual(0.04);
});
