/** Recordings whose channels or sample rate change under way, and headers that are false about them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { measureAudio } from '../../../src/audio/measure.ts';
import { ffmpeg, pictures } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const at = (name: string): string => join(folder, name);
const timeLimitMs = 30_000;

/** Seconds, sample rate and channels of a part. */
type Part = readonly [number, number, number];

const encoded = new Map<string, Promise<Buffer>>();

/** Each part is encoded once. */
function encode(encoding: readonly string[], extension: string, [seconds, rate, channels]: Part): Promise<Buffer> {
  const name = [seconds, rate, channels, ...encoding].join('_');
  const tone = ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}:sample_rate=${rate}`];
  const making =
    encoded.get(`${name}.${extension}`) ??
    ffmpeg(...tone, '-ac', String(channels), ...encoding, at(`${name}.${extension}`)).then((file) => readFile(file));
  encoded.set(`${name}.${extension}`, making);
  return making;
}

async function bothDurations(input: string) {
  const measured = await measureAudio(input, { timeLimitMs });
  const decoding = { input, output: at('decoded'), maxDurationMs: 3_600_000, timeLimitMs };
  const { durationMs: decoded, silences } = await decodeAudio(decoding);
  return { measured: measured!, decoded, silences };
}

const mono: Part = [3, 48_000, 1];
const stereo: Part = [4, 48_000, 2];
const surround: Part = [2, 48_000, 6];
const slow: Part = [5, 16_000, 1];
const changes: [string, readonly Part[]][] = [
  ['stereo, mono', [stereo, mono]],
  ['mono, stereo, mono, stereo', [mono, stereo, mono, stereo]],
  ['16 kHz, 48 kHz', [slow, mono]],
  ['48 kHz, 16 kHz stereo, 48 kHz', [mono, [5, 16_000, 2], mono]],
];

// Left out is what ffmpeg 5.1 can't read at all: FLAC whose blocks become larger, and Opus that begins in 5.1 and goes on in
// stereo. A codec that stands alone has every change, and in other containers those that hold all kinds of it.
const tables: [string, string[], [string, readonly Part[]][]][] = [
  ['mp3', [], changes],
  ['aac', [], [...changes, ['5.1, stereo', [surround, stereo]]]],
  ['ac3', [], [['mono, 5.1, stereo', [mono, surround, stereo]], ['48 kHz, 32 kHz stereo', [mono, [5, 32_000, 2]]]]],
  ['dts', ['-c:a', 'dca', '-strict', '-2'], [['5.1, stereo', [surround, stereo]]]],
  ['ogg', ['-c:a', 'libvorbis'], [...changes, ['192 kHz, 8 kHz', [[2, 192_000, 1], [20, 8_000, 1]]]]],
  ['oga', ['-c:a', 'flac'], changes.filter(([name]) => name !== '16 kHz, 48 kHz')],
  ['webm', ['-c:a', 'libopus', '-live', '1'], changes.slice(0, 2)],
  ['ts', ['-c:a', 'aac'], changes.slice(1)],
]; // prettier-ignore
const cases = tables.flatMap(([extension, encoding, rows]) =>
  rows.map(([name, parts]) => [`${extension} ${encoding.join(' ')}`, name, extension, encoding, parts] as const),
);

test.each(cases)('%s: %s → its real length, measured and decoded, without a pause', async (...row) => {
  const [, , extension, encoding, parts] = row;
  const file = at(`joined.${extension}`);
  await writeFile(file, Buffer.concat(await Promise.all(parts.map((part) => encode(encoding, extension, part)))));
  const realMs = parts.reduce((sum, [seconds]) => sum + seconds * 1000, 0);
  const { measured, decoded, silences } = await bothDurations(file);
  // Each part has an encoder's delay and padding.
  const toleranceMs = 100 * parts.length;
  // Without decoding, nobody knows that the packets of AAC become shorter or longer.
  const isTold =
    !(encoding.includes('aac') || extension === 'aac') || new Set(parts.map(([, rate]) => rate)).size === 1;
  expect(Math.abs(decoded - realMs)).toBeLessThanOrEqual(toleranceMs);
  if (isTold) expect(Math.abs(measured - decoded)).toBeLessThanOrEqual(toleranceMs);
  expect(silences).toEqual([]);
});

test.each([8_000, 192_000])('a FLAC of 48 kHz whose header says %d Hz → as long as its samples last', async (rate) => {
  const file = await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=6:sample_rate=48000', at('lying.flac'));
  const bytes = await readFile(file);
  // 20 bits behind the mark, the header of the first block and ten of its bytes.
  bytes.writeUInt32BE(((bytes.readUInt32BE(18) & 0xfff) | (rate << 12)) >>> 0, 18);
  await writeFile(file, bytes);
  expect(await bothDurations(file)).toEqual({ measured: 6_000, decoded: 6_000, silences: [] });
});

test('a recording that says much of itself → as long as it is', async () => {
  const comment = ['-metadata', `comment=${'HEND sndD '.repeat(2_000)}`];
  const file = await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=6', ...comment, at('talkative.flac'));
  expect(await bothDurations(file)).toEqual({ measured: 6_000, decoded: 6_000, silences: [] });
});

test('sound and picture that both begin late, as B frames make them → no silence for the delay', async () => {
  const delayed = ['-c:v', 'libx264', '-bf', '2', '-c:a', 'aac'];
  const tone = ['-f', 'lavfi', '-i', 'sine=duration=8:sample_rate=48000'];
  for (const container of [
    ['-movflags', 'empty_moov+frag_keyframe'],
    ['-use_editlist', '0'],
  ]) {
    // prettier-ignore
    const { decoded, silences } = await bothDurations(
      await ffmpeg(...pictures(8), ...tone, ...delayed, ...container, at('delayed.mp4')),
    );
    expect(Math.abs(decoded - 8_000)).toBeLessThanOrEqual(60);
    expect(silences).toEqual([]);
  }
});
