/** Where nobody speaks, nothing is recognized, whatever the recognizer is. By the real addon and a tiny detector. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { createSherpaOnnx } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { createVoiceDetector } from '../../../../src/recognizers/sherpa-onnx/voice-detector.ts';
import { onlySpeech } from '../../../../src/recognizers/select.ts';
import { startSpeechServer } from '../../../support/models/speech-server.ts';
import { makeTinySenseVoice } from '../../../support/models/tiny/sense-voice.ts';
import { makeTinyVoices } from '../../../support/models/tiny/voices.ts';
import { speakTones } from '../../../support/models/tiny/spoken-tones.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { makeRecordings } from '../conformance/recordings.ts';
import type { DecodedAudio } from '../../../../src/recognizers/recognizer.ts';

const folder = useFolder();
const recordings = makeRecordings();
const { signal } = new AbortController();
const closing: (() => unknown)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

const voices = await makeTinyVoices(join(folder, 'vad'));
const detectorIn = (models: string) => {
  const detector = createVoiceDetector({ folder: models, idleMs: 60_000 });
  closing.push(() => detector.close());
  return detector;
};
const detector = detectorIn(voices);
const speechIn = (audio: DecodedAudio) => detector.findSpeech(audio, signal);

const two = await speakTones(folder, 'two', ['low', 'high']);
const noise = 'anoisesrc=a=0.1:c=white:r=16000:d=9:seed=1';
const music = 'aevalsrc=0.1*sin(440*2*PI*t)+0.1*sin(554*2*PI*t)+0.1*sin(659*2*PI*t):s=16000:d=9';
/** Two tones, 9 s of something else, and the same two tones. */
const around = (noise: string) => {
  const graph = '[0]asplit=2[a][b];[1]aformat=sample_fmts=s16:channel_layouts=mono[n];[a][n][b]concat=n=3:v=0:a=1';
  return recordings.made('-i', two.file, '-f', 'lavfi', '-i', noise, '-filter_complex', graph);
};

test('9 s of noise between two tones → only they are speech', async () => {
  const speech = await speechIn(await around(noise));
  expect(speech.length).toBeGreaterThanOrEqual(2);
  expect(speech[0]!.startMs).toBeLessThan(500);
  const afterNoise = speech.findIndex(({ startMs }) => startMs > 5_000);
  expect(speech[afterNoise - 1]!.endMs).toBeLessThan(3_000);
  // The tone begins 0.3 s after the noise.
  expect(speech[afterNoise]!.startMs).toBeGreaterThan(11_000);
});

test('11 minutes, a tone over the end of a window → found there, and nowhere else', async () => {
  const audio = await recordings.at([299_800, 640_000], await speakTones(folder, 'one', ['low']), 660_000);
  const speech = await speechIn(audio);
  expect(speech).toHaveLength(2);
  expect(speech[0]!.startMs).toBeGreaterThan(299_000);
  expect(speech[0]!.endMs).toBeLessThan(301_500);
  expect(speech[1]!.startMs).toBeGreaterThan(639_000);
  expect(speech[1]!.endMs).toBeLessThan(641_500);
});

test('a server → only what is spoken is sent to it; of noise, nothing', async () => {
  const server = await startSpeechServer({
    recognizer: createSherpaOnnx({ folder: await makeTinySenseVoice(join(folder, 'model')) }),
  });
  const model = { baseUrl: server.url, apiKey: undefined, model: 'whisper-1' };
  const recognizer = onlySpeech(createOpenAi({ server: model, mostRequests: 1 }), detector);
  closing.push(
    () => recognizer.close(),
    () => server.close(),
  );
  const nothing = await recognizer.recognize(await recordings.made('-f', 'lavfi', '-i', noise), { signal });
  expect(nothing.segments).toEqual([]);
  expect(server.requests).toEqual([]);
  const { segments } = await recognizer.recognize(await around(music), { signal });
  expect(segments.map(({ text }) => text.toLowerCase()).join(' ')).toMatch(/low.*high.*low.*high/);
  expect(server.requests).toHaveLength(2);
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
