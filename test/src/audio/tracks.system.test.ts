/** Which of several channels and tracks is heard, when it begins, and whether it is whole. */
import { join } from 'node:path';
import { readFile, writeFile } from 'node:fs/promises';
import { AudioToolError } from '../../../src/audio/audio-error.ts';
import { findExecutable } from '../../../src/children/bounded-command.ts';
import { countChannels } from '../../../src/audio/tracks.ts';
import { decodeAudio, decodeWhole } from '../../../src/audio/decode.ts';
import { LoudnessMeter } from '../../../src/audio/loudness.ts';
import { measureAudio } from '../../../src/audio/measure.ts';
import { withFfmpeg } from '../../support/faults/fake-programs.ts';
import { ffmpeg, noise, pictures, silence, sine } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const at = (name: string) => join(folder, name);
const output = at('decoded');
const timeLimitMs = 60_000;

async function heard(input: string) {
  const decoded = await decodeWhole({ input, output, maxDurationMs: 60_000, timeLimitMs }, null);
  const meter = new LoudnessMeter();
  meter.push(await readFile(output));
  return { ...decoded, ...meter.end() };
}

const channels = (expressions: string, name: string) =>
  ffmpeg('-f', 'lavfi', '-i', `aevalsrc='${expressions}':d=4:s=16000`, at(name));
const voice = '0.3*sin(440*2*PI*t)*gt(mod(t\\,1)\\,0.3)';

test.each([
  ['inverted', `${voice}|-${voice}`, -12],
  ['inverted, and a little quieter', `${voice}|-0.99*${voice}`, -12],
  ['the same', `${voice}|${voice}`, -12],
  ['in one channel of two', `${voice}|0`, -18],
])('a voice that is %s → heard', async (_, expressions, levelDb) => {
  const { levelDb: level, warnings } = await heard(await channels(expressions, 'channels.wav'));
  expect(warnings).toEqual([]);
  expect(Math.abs(level - levelDb)).toBeLessThan(4);
});

/** Each in one of so many channels, one after the other. The file doesn't say where they belong. */
async function takingTurns(channels: number, other: number, ...out: string[]): Promise<string> {
  const samples = new Int16Array(16_000 * 4 * channels);
  for (let at = 0; at < 16_000 * 4; at += 1) {
    const channel = at < 32_000 ? 0 : other;
    samples[at * channels + channel] = 9_000 * Math.sin((at * 440 * 2 * Math.PI) / 16_000);
  }
  await writeFile(at('turns.raw'), Buffer.from(samples.buffer));
  const raw = ['-guess_layout_max', '0', '-f', 's16le', '-ar', '16000', '-ac', String(channels)];
  return ffmpeg(...raw, '-i', at('turns.raw'), ...out.slice(0, -1), at(out.at(-1)!));
}

test.each<[number, number, string[]]>([
  [3, 2, ['turns.aiff']],
  [6, 3, ['-c:a', 'pcm_s16le', 'turns.mkv']],
  [64, 63, ['turns.wav']],
  // FLAC says that the fourth of six is a subwoofer's.
  [6, 3, ['-ac', '6', 'turns.flac']],
])('two of %i microphones, on channels 1 and %i + 1, in %s → both are heard', async (channels, other, out) => {
  const { silences, durationMs } = await heard(await takingTurns(channels, other, ...out));
  expect({ durationMs, silences }).toEqual({ durationMs: 4_000, silences: [] });
});

test('two who speak one after the other, each in a channel of a quiet recording → both are heard', async () => {
  const speaks = (when: string) => `0.2*${voice}*${when}`;
  const { silences } = await heard(await channels(`${speaks('lt(t\\,2)')}|${speaks('gte(t\\,2)')}`, 'dialogue.wav'));
  expect(Math.max(...silences.map(({ startMs, endMs }) => endMs - startMs))).toBeLessThan(500);
});

const twoTracks = (one: string[], other: string[], name: string, ...how: string[]) =>
  ffmpeg(...one, ...other, '-map', '0:a', '-map', '1:a', ...how, at(name));

test.each([
  ['the first is silent', silence(2), noise(3), [], 3_000],
  ['both have sound', noise(2), sine(3), [], 2_000],
  [
    'both have sound, the second is the default',
    noise(2),
    sine(3),
    ['-disposition:a:0', '0', '-disposition:a:1', 'default'],
    3_000,
  ],
  ['the default is silent', noise(2), silence(3), ['-disposition:a:0', '0', '-disposition:a:1', 'default'], 2_000],
  ['both are silent', silence(2), silence(3), [], 2_000],
])('two tracks, %s → the right one, and said', async (_, one, other, how, durationMs) => {
  const input = await twoTracks(one, other, 'tracks.mkv', ...how, '-c:a', 'flac');
  const decoded = await heard(input);
  expect(Math.abs(decoded.durationMs - durationMs)).toBeLessThan(100);
  expect(decoded.warnings).toEqual(['other_tracks_ignored']);
});

test('channels are counted in the track that is heard', async () => {
  const input = await twoTracks(silence(2), noise(3), 'counted.mkv', '-c:a', 'flac', '-ac:a:0', '1', '-ac:a:1', '2');
  expect(await countChannels({ input, timeLimitMs })).toEqual({ track: 1, channels: 2 });
});

const late = (name: string, ...codecs: string[]) =>
  ffmpeg(...pictures(8), '-itsoffset', '2', ...sine(6), ...codecs, at(name));
const h264 = ['-c:v', 'libx264'];

test.each([
  ['Matroska, whose picture is not decoded', () => late('late.mkv', ...h264)],
  ['MP4', () => late('late.mp4', '-c:v', 'mpeg4')],
  ['MPEG-TS', () => late('late.ts', ...h264)],
  ['MPEG-TS that begins at 0', () => late('zero.ts', ...h264, '-muxdelay', '0', '-muxpreload', '0')],
  ['MPEG-PS', () => late('late.mpg', '-r', '25')],
])('%s: sound begins 2 s after the picture → silence first, measured, too', async (_, make) => {
  const input = await make();
  const { durationMs, silences } = await heard(input);
  expect(silences[0]).toMatchObject({ startMs: 0, endMs: expect.any(Number) });
  expect(Math.abs(silences[0]!.endMs - 2_000)).toBeLessThan(50);
  const measured = (await measureAudio(input, { timeLimitMs }))!;
  expect(Math.abs(measured - durationMs)).toBeLessThan(100);
});

/** A second of a tone in the first channel; the others are silent. */
const toneOf = (channels: number, ...out: string[]) => {
  const others = ['sin(440*2*PI*t)', ...new Array<string>(channels - 1).fill('0')].join('|');
  return ffmpeg('-f', 'lavfi', '-i', `aevalsrc='${others}':d=1:s=16000`, ...out.slice(0, -1), at(out.at(-1)!));
};

test.each([
  [1, ['mono.wav']],
  [2, ['stereo.opus']],
  [6, ['-c:a', 'aac', '-ar', '48000', 'six.m4a']],
  [10, ['ten.wav']],
])('%i channels in %s → counted', async (channels, out) => {
  expect(await countChannels({ input: await toneOf(channels, ...out), timeLimitMs })).toEqual({ track: 0, channels });
});

test('one channel of two → its own samples and silences, as long as the other', async () => {
  const input = await toneOf(2, 'two.flac');
  const decode = async (channel?: number) => {
    const output = at(`two.${channel}`);
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

const ten = at('ten.flac');
const decodeTen = (measuredMs: number | null) =>
  decodeWhole({ input: ten, output, maxDurationMs: 60_000, timeLimitMs }, measuredMs);
beforeAll(() => ffmpeg(...noise(10), ten));

test('as long as measured, a little shorter, or never measured → decoded once', async () => {
  for (const measuredMs of [10_000, 11_100, null]) {
    expect(await decodeTen(measuredMs)).toMatchObject({ durationMs: 10_000, isConfirmedShort: false });
  }
});

test('much shorter than measured, and again → damaged, and said to be so', async () => {
  expect(await decodeTen(11_200)).toMatchObject({ durationMs: 10_000, isConfirmedShort: true });
});

test('the disk fails in the first run, which ffmpeg takes for the end of the file → AudioToolError, no shorter audio', async () => {
  const [real, strace] = await Promise.all([findExecutable('ffmpeg'), findExecutable('strace')]);
  const marker = at('has-failed');
  const failing = `${strace} -D -f -o /dev/null -P ${ten} -e trace=read -e inject=read:error=EIO:when=3+`;
  const script = `[ -e ${marker} ] || { : >${marker}; exec ${failing} ${real} "$@"; }; exec ${real} "$@"`;
  const error = await withFfmpeg(script, () => decodeTen(10_000).catch((cause: unknown) => cause));
  expect(error).toBeInstanceOf(AudioToolError);
  expect(String(error)).toMatch(/decoded to [1-8]\d{3} ms, and then to 10000 ms$/);
});
