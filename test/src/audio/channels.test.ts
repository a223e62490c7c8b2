import { join } from 'node:path';
import { writeFile, readFile } from 'node:fs/promises';
import { countChannels } from '../../../src/audio/tracks.ts';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { ffmpeg } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const inFolder = (name: string) => join(folder, name);
const timeLimitMs = 60_000;

/** A second of a tone in the first channel; the others are silent. */
const toneOf = (channels: number, ...out: string[]) => {
  const others = ['sin(440*2*PI*t)', ...new Array<string>(channels - 1).fill('0')].join('|');
  return ffmpeg('-f', 'lavfi', '-i', `aevalsrc='${others}':d=1:s=16000`, ...out.slice(0, -1), inFolder(out.at(-1)!));
};
const count = (input: string) => countChannels({ input, timeLimitMs });

test.each([
  [1, ['mono.wav']],
  [2, ['stereo.mp3']],
  [2, ['stereo.opus']],
  [6, ['six.flac']],
  [6, ['-c:a', 'aac', '-ar', '48000', 'six.m4a']],
  [5, ['-c:a', 'ac3', '-ar', '48000', 'five.mka']],
  [8, ['eight.wav']],
  [10, ['ten.wav']],
])('%i channels in %s → counted', async (channels, out) => {
  expect(await count(await toneOf(channels, ...out))).toEqual({ track: 0, channels });
});

test('one channel of two → its own samples and silences, as long as the other', async () => {
  const input = await toneOf(2, 'two.flac');
  const decode = async (channel?: number) => {
    const output = inFolder(`two.${channel}`);
    const decoded = await decodeAudio({ input, output, maxDurationMs: 60_000, channel, timeLimitMs });
    return { ...decoded, loudest: Math.max(...new Int16Array(new Uint8Array(await readFile(output)).buffer)) };
  };
  const [left, right, mixed] = [await decode(1), await decode(2), await decode()];
  expect(left).toMatchObject({ durationMs: 1_000, silences: [] });
  expect(right).toMatchObject({ durationMs: 1_000, silences: [{ startMs: 0, endMs: 1_000 }], loudest: 0 });
  // At its full level, while the mix is half as loud.
  expect(left.loudest).toBeGreaterThan(32_000);
  expect(mixed.loudest).toBeLessThan(24_000);
});

test('a part without the channel in a joined file → silence of its length', async () => {
  const [stereo, mono] = [await toneOf(2, 'part.mp3'), await toneOf(1, 'other.mp3')];
  const input = inFolder('joined.mp3');
  await writeFile(input, Buffer.concat([await readFile(stereo), await readFile(mono)]));
  const lengths = [1, 2].map(async (channel) => {
    const output = inFolder(`joined.${channel}`);
    return (await decodeAudio({ input, output, maxDurationMs: 60_000, channel, timeLimitMs })).durationMs;
  });
  const [first, second] = await Promise.all(lengths);
  expect(first).toBe(second);
  expect(first).toBeGreaterThan(1_900);
});

test('what can not be decoded → unsupported_media or no_audio_track', async () => {
  const input = inFolder('text');
  await writeFile(input, 'no audio '.repeat(1_000));
  await expect(count(input)).rejects.toMatchObject({ code: 'unsupported_media' });
  const pictures = await ffmpeg('-f', 'lavfi', '-i', 'testsrc=s=64x64:r=5:d=1', inFolder('pictures.mp4'));
  await expect(count(pictures)).rejects.toMatchObject({ code: 'no_audio_track' });
});
