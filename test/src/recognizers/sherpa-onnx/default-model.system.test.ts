/** The recognizer that a service has without a word of configuration: Moonshine tiny, and Silero's voice detector. */
import { readConfig } from '../../../../src/config/config.ts';
import { selectRecognizer } from '../../../../src/recognizers/select.ts';
import { atEnd } from '../../../support/at-end.ts';
import { speechClips } from '../../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { makeRecordings } from '../conformance/recordings.ts';

const { signal } = new AbortController();
const recordings = makeRecordings();
const recognizer = await selectRecognizer(readConfig({ DATA_DIR: useFolder() }));
atEnd(() => recognizer.close());

/** What it hears in the five clips: one word of 64 is wrong, "ill-sposed". */
const said = [
  'And Mr. John Dashwood had then leisure to consider how much there might be prudently in his power to do for them.',
  'He was not an ill-sposed young man.',
  'Unless to be rather cold-hearted and rather selfish, is to be ill-disposed,',
  'Had he married a more amiable woman, he might have been made still more respectable than he was.',
  'He might even have been made amiable himself.',
];

test('readers at -30 dB → every word, with capitals and commas, said to be English', async () => {
  await recognizer.check();
  for (const [index, { file }] of (await speechClips()).entries()) {
    const audio = await recordings.made('-i', file, '-af', 'volume=-30dB');
    const { segments, language } = await recognizer.recognize(audio, { signal });
    expect([segments.map(({ text }) => text).join(' '), language]).toEqual([said[index], 'en']);
  }
});
