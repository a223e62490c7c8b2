import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { measureAudio } from '../../../src/audio/measure.ts';
import { ffmpeg, pictures, sine } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();

const at = (name: string): string => join(folder, name);
const timeLimitMs = 60_000;

async function bothDurations(input: string): Promise<{ measured: number; decoded: number }> {
  const output = at('decoded');
  const measured = await measureAudio(input, { timeLimitMs });
  const { durationMs: decoded } = await decodeAudio({ input, output, maxDurationMs: 4 * 3_600_000, timeLimitMs });
  expect(Math.floor((await stat(output)).size / 32)).toBe(decoded);
  return { measured: measured!, decoded };
}

/** Containers round the times of packets, and codecs have an encoder's delay. */
const measuredToleranceMs = 120;

/** Decoded to so many ms, or nearly so, and measured about as long. */
async function expectLength(input: string, ms: number, toleranceMs: number): Promise<void> {
  const { measured, decoded } = await bothDurations(input);
  const [isReal, isSame] = [Math.abs(decoded - ms) <= toleranceMs, Math.abs(measured - decoded) <= measuredToleranceMs];
  expect({ measured, decoded, isReal, isSame }).toMatchObject({ isReal: true, isSame: true });
}

// The tolerance in ms is what the format's own frames and the encoder's delay allow; uncompressed audio is exact.
test.each([
  ['wav', [], 0],
  ['rf64.wav', ['-rf64', 'always'], 0],
  ['microsoft.wav', ['-c:a', 'adpcm_ms'], 100],
  ['g722.wav', ['-c:a', 'g722', '-ar', '16000'], 1],
  ['g726.wav', ['-c:a', 'g726', '-ar', '8000'], 1],
  ['gsm.wav', ['-c:a', 'libgsm_ms', '-ar', '8000'], 100],
  ['gsm', ['-ar', '8000'], 100],
  ['w64', [], 0],
  ['big-endian.aiff', ['-c:a', 'pcm_s24be'], 0],
  ['caf', ['-c:a', 'pcm_s16le'], 0],
  ['mulaw.au', ['-c:a', 'pcm_mulaw'], 0],
  ['flac', [], 0],
  ['wv', [], 0],
  ['mov', ['-c:a', 'alac'], 0],
  ['ogg', ['-c:a', 'libvorbis'], 1],
  ['opus', ['-c:a', 'libopus'], 1],
  ['wide.spx', ['-c:a', 'libspeex', '-ar', '16000', '-f', 'ogg'], 20],
  ['webm', ['-c:a', 'libopus'], 20],
  ['without-duration.webm', ['-c:a', 'libopus', '-live', '1'], 20],
  ['mp3', ['-q:a', '5'], 30],
  ['no-xing.mp3', ['-q:a', '5', '-write_xing', '0'], 30],
  ['cover.mp3', [...pictures(1), '-frames:v', '1', '-map', '0', '-map', '1', '-disposition:v', 'attached_pic'], 30],
  ['m4a', [], 30],
  ['fragmented.mp4', ['-movflags', 'frag_keyframe+empty_moov'], 40],
  ['mka', ['-c:a', 'aac'], 40],
  ['aac', [], 40],
  ['ac3', [], 40],
  ['dts', ['-c:a', 'dca', '-strict', '-2', '-ar', '48000', '-ac', '2'], 40],
  ['wma', [], 100],
  ['avi', ['-c:a', 'libmp3lame'], 40],
  ['flv', ['-c:a', 'libmp3lame'], 40],
  ['ts', ['-c:a', 'mp2'], 30],
  ['latm.ts', ['-c:a', 'aac', '-mpegts_flags', 'latm'], 100],
  ['mpg', ['-c:a', 'mp2'], 30],
  // Their packets don't say how long they are.
  ['swf.wav', ['-c:a', 'adpcm_swf'], 100],
  ['wavpack.mka', ['-c:a', 'wavpack'], 0],
])('10.37 s as %s → measured and decoded as long as it is', async (extension, encoding, tolerance) => {
  await expectLength(await ffmpeg(...sine(10.37), ...encoding, at(`tone.${extension}`)), 10_370, tolerance);
});

test.each([
  ['AMR-NB', '#!AMR\n', 0x3c, 31],
  ['AMR-WB', '#!AMR-WB\n', 0x44, 60],
])('fifty packets of 20 ms of %s → a second', async (_, mark, header, bytes) => {
  await writeFile(at('by-hand.amr'), mark + (String.fromCharCode(header) + '\0'.repeat(bytes)).repeat(50), 'latin1');
  await expectLength(at('by-hand.amr'), 1_000, 0);
});

test('Ogg Opus joined with itself, so that every part has one serial number → no time for the headers between', async () => {
  const part = await ffmpeg(...sine(4), '-c:a', 'libopus', at('part.ogg'));
  // Of each later part ffmpeg keeps the 6.5 ms that a player skips.
  await writeFile(at('again.ogg'), Buffer.concat(Array(5).fill(await readFile(part))));
  await expectLength(at('again.ogg'), 20_000, 40);
});

test('packets that are stamped when a batch of 3 s came → all samples, and no silence', async () => {
  const whole = await ffmpeg(...sine(25), '-c:a', 'libopus', at('whole.webm'));
  const stamps = ['-c', 'copy', '-bsf:a', 'setts=ts=floor(TS/3000)*3000'];
  await expectLength(await ffmpeg('-i', whole, ...stamps, at('stamped.webm')), 25_000, 20);
});

test('a part cut out by an edit list → the length of what is left', async () => {
  const whole = await ffmpeg(...sine(10.37), at('whole.m4a'));
  await expectLength(await ffmpeg('-ss', '3.3', '-i', whole, '-c', 'copy', at('cut.m4a')), 7_070, 20);
});

test('damage in the middle of an MP3 → the rest is still there', async () => {
  const file = await ffmpeg(...sine(8), at('damaged.mp3'));
  const bytes = await readFile(file);
  const middle = Math.floor(bytes.length / 2);
  bytes.fill(0xff, middle, middle + 2_000);
  await writeFile(file, bytes);
  const { decoded } = await bothDurations(file);
  expect(decoded).toBeGreaterThan(7_000);
});

const asSamples = (hidden: string, name: string) =>
  ffmpeg('-f', 's16le', '-ar', '48000', '-ac', '2', '-i', hidden, '-c', 'copy', at(name));

test('MP3 and AC-3 that call themselves samples of a WAV → noise as long as the WAV says', async () => {
  for (const encoding of [
    ['-write_xing', '0', '-f', 'mp3'],
    ['-f', 'ac3'],
  ]) {
    const hidden = await ffmpeg(...sine(10), '-ac', '2', '-b:a', '64k', ...encoding, at('hidden'));
    const { measured, decoded } = await bothDurations(await asSamples(hidden, 'hiding.wav'));
    expect(Math.abs(measured - decoded)).toBeLessThanOrEqual(1);
    expect(decoded).toBeLessThan(1_000);
  }
});

test('AC-3 for a digital cable in a WAV → what is heard at its end', async () => {
  const encoding = ['-ac', '2', '-ar', '48000', '-c:a', 'ac3', '-f', 'spdif'];
  const cable = await ffmpeg(...sine(10), ...encoding, at('cable'));
  await expectLength(await asSamples(cable, 'cable.wav'), 10_000, 40);
});
