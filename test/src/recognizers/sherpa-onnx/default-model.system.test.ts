/** The recognizer that a service has without a word of configuration: Moonshine tiny, and Silero's voice detector. */
import { readConfig } from '../../../../src/config/config.ts';
import { createVoiceDetector } from '../../../../src/recognizers/sherpa-onnx/voice-detector.ts';
import { folderOfKnown } from '../../../../src/recognizers/sherpa-onnx/known-models.ts';
import { selectRecognizer } from '../../../../src/recognizers/select.ts';
import { atEnd } from '../../../support/at-end.ts';
import { speechClips } from '../../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { makeRecordings } from '../conformance/recordings.ts';

const { signal } = new AbortController();
const recordings = makeRecordings();
const detector = createVoiceDetector({ folder: folderOfKnown('', 'vad'), idleMs: 60_000 });
const recognizer = await selectRecognizer(readConfig({ DATA_DIR: useFolder() }));
beforeAll(async () => {
  await recognizer.check();
  atEnd(() => Promise.all([recognizer.close(), detector.close()]));
});

/** What it hears in the five clips: one word of 64 is wrong, "ill-sposed". */
const said = [
  'And Mr. John Dashwood had then leisure to consider how much there might be prudently in his power to do for them.',
  'He was not an ill-sposed young man.',
  'Unless to be rather cold-hearted and rather selfish, is to be ill-disposed,',
  'Had he married a more amiable woman, he might have been made still more respectable than he was.',
  'He might even have been made amiable himself.',
];

test('readers at -30 dB → every word, with capitals and commas, said to be English', async () => {
  for (const [index, { file }] of (await speechClips()).entries()) {
    const audio = await recordings.made('-i', file, '-af', 'volume=-30dB');
    const { segments, language } = await recognizer.recognize(audio, { signal });
    expect([segments.map(({ text }) => text).join(' '), language]).toEqual([said[index], 'en']);
  }
});

const noises = {
  'white noise': 'anoisesrc=a=0.1:c=white:r=16000:d=10:seed=1',
  music: 'aevalsrc=0.1*sin(440*2*PI*t)+0.1*sin(554*2*PI*t)+0.1*sin(659*2*PI*t):s=16000:d=10',
  applause: 'aevalsrc=(random(0)-0.5)*exp(-30*mod(t\\,0.11))+(random(1)-0.5)*exp(-30*mod(t+0.05\\,0.13)):s=16000:d=10',
};

test.each(Object.entries(noises))('%s → nobody speaks', async (_, noise) => {
  expect(await detector.findSpeech(await recordings.made('-f', 'lavfi', '-i', noise), signal)).toEqual([]);
});
