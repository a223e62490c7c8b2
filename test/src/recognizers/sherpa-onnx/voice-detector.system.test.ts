/** Where nobody speaks, nothing is recognized, whatever the recognizer is. By the detector of a service. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { folderOfKnown } from '../../../../src/recognizers/sherpa-onnx/known-models.ts';
import { createVoiceDetector } from '../../../../src/recognizers/sherpa-onnx/voice-detector.ts';
import { onlySpeech } from '../../../../src/recognizers/select.ts';
import { startSpeechServer } from '../../../support/models/speech-server.ts';
import { speechClips } from '../../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { makeRecordings } from '../conformance/recordings.ts';
import type { DecodedAudio } from '../../../../src/recognizers/recognizer.ts';

const folder = useFolder();
const recordings = makeRecordings();
const { signal } = new AbortController();
const closing: (() => unknown)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

const voices = folderOfKnown('', 'vad');
const detectorIn = (models: string) => {
  const detector = createVoiceDetector({ folder: models, idleMs: 60_000 });
  closing.push(() => detector.close());
  return detector;
};
const detector = detectorIn(voices);
const speechIn = (audio: DecodedAudio) => detector.findSpeech(audio, signal);

const clip = (await speechClips()).sort((a, b) => a.durationMs - b.durationMs)[0]!;
const noise = 'anoisesrc=a=0.1:c=white:r=16000:d=9:seed=1';
const music = 'aevalsrc=0.1*sin(440*2*PI*t)+0.1*sin(554*2*PI*t)+0.1*sin(659*2*PI*t):s=16000:d=9';
const applause =
  'aevalsrc=(random(0)-0.5)*exp(-30*mod(t\\,0.11))+(random(1)-0.5)*exp(-30*mod(t+0.05\\,0.13)):s=16000:d=10';
/** A voice, 9 s of something else, and the same voice. */
const around = (noise: string) => {
  const graph = '[0]asplit=2[a][b];[1]aformat=sample_fmts=s16:channel_layouts=mono[n];[a][n][b]concat=n=3:v=0:a=1';
  return recordings.made('-i', clip.file, '-f', 'lavfi', '-i', noise, '-filter_complex', graph);
};

test('9 s of noise between two voices → only they are speech', async () => {
  const speech = await speechIn(await around(noise));
  const again = clip.durationMs + 9_000;
  const [first, second] = [speech.filter(({ endMs }) => endMs < again), speech.filter(({ endMs }) => endMs >= again)];
  expect(first[0]!.startMs).toBeLessThan(1_000);
  expect(first.at(-1)!.endMs).toBeLessThan(clip.durationMs + 500);
  expect(second[0]!.startMs).toBeGreaterThan(again - 500);
});

test('330 s, a voice over the end of a window → found there, and nowhere else', async () => {
  const [start, later] = [299_000, 320_000];
  const speech = await speechIn(await recordings.at([start, later], clip, 330_000));
  expect(speech.length).toBeGreaterThanOrEqual(2);
  const within = (at: number) =>
    speech.filter(({ startMs, endMs }) => startMs > at - 500 && endMs < at + clip.durationMs + 500);
  expect([...within(start), ...within(later)]).toEqual(speech);
  expect(within(start).some(({ startMs, endMs }) => startMs < 300_000 && endMs > 300_000)).toBe(true);
  expect(within(later)).not.toEqual([]);
});

test('a server → only what is spoken is sent to it; of applause, nothing', async () => {
  const [said, each] = [clip.text.split(' '), clip.durationMs / 1000 / clip.text.split(' ').length];
  const words = said.map((word, index) => ({ word, start: index * each, end: (index + 1) * each }));
  const server = await startSpeechServer({ script: () => ({ status: 200, body: { text: clip.text, words } }) });
  const model = { baseUrl: server.url, apiKey: undefined, model: 'whisper-1' };
  const recognizer = onlySpeech(createOpenAi({ server: model, mostRequests: 1 }), detector);
  closing.push(
    () => recognizer.close(),
    () => server.close(),
  );
  const nothing = await recognizer.recognize(await recordings.made('-f', 'lavfi', '-i', applause), { signal });
  expect(nothing.segments).toEqual([]);
  expect(server.requests).toEqual([]);
  await recognizer.recognize(await around(music), { signal });
  const sent = server.requests.map(({ file }) => (file!.bytes.length - 44) / 32);
  expect(sent).toHaveLength(2);
  for (const ms of sent) expect(Math.abs(ms - clip.durationMs)).toBeLessThan(1_500);
});

test('no model, or another file of its name → what to do; there later → found', async () => {
  const later = detectorIn(join(folder, 'later'));
  await expect(later.check()).rejects.toThrow('npm run model -- download vad');
  await mkdir(join(folder, 'later'));
  const model = join(folder, 'later', 'silero_vad.onnx');
  await writeFile(model, 'no model');
  await expect(later.check()).rejects.toThrow(join(folder, 'later'));
  const audio = await recordings.made('-f', 'lavfi', '-i', noise);
  await expect(later.findSpeech(audio, signal)).rejects.toMatchObject({
    ...{ name: 'RecognizerError', message: expect.stringContaining(`${join(folder, 'later')}`) },
  });
  await cp(join(voices, 'silero_vad.onnx'), model);
  await later.check();
});
