import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { measureByDemuxing } from '../../../src/audio/measure.ts';
import { readWav } from '../../../src/audio/plain-wav.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();

const at = (name: string): string => join(folder, name);
const lengthOf = async (file: string) => (await readWav(file))?.durationMs;
const byFfmpeg = (file: string) => measureByDemuxing(file, { timeLimitMs: 20_000 });

test.each([
  ['pcm_s16le', []],
  ['pcm_u8', ['-ac', '2']],
  ['pcm_s24le', []],
  ['pcm_f32le', []],
  ['pcm_alaw', ['-ar', '8000']],
])('a WAV of %s, %s → its codec, and its length as ffmpeg finds it', async (codec, more) => {
  const file = await ffmpeg(...sine(3.7214), '-c:a', codec, ...more, at('plain.wav'));
  expect(await readWav(file)).toEqual({ codec, durationMs: await byFfmpeg(file) });
  expect(await lengthOf(file)).toBeGreaterThan(3_700);
});

test.each([
  ['MP3 in WAV', ['-c:a', 'libmp3lame']],
  ['more than 4 GiB to come', ['-rf64', 'always']],
  ['another format', ['-f', 'flac']],
])('%s → left to ffmpeg', async (_, encoding) => {
  expect(await lengthOf(await ffmpeg(...sine(1), ...encoding, at('other.wav')))).toBeUndefined();
});

function chunk(id: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

const wav = (...chunks: Buffer[]) => chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));
const format16 = Buffer.from('01000100401f0000803e000002001000', 'hex');
const plain = chunk('fmt ', format16);
const stereo = chunk('fmt ', Buffer.from('01000200401f0000007d000004001000', 'hex'));
const second = chunk('data', Buffer.alloc(16_000));
const extended = (hex: string) => chunk('fmt ', Buffer.concat([format16, Buffer.from(hex, 'hex')]));
const extensible = (bits: string, tag: string, end = '000000001000800000aa00389b71', length = '1600') => {
  const made = extended(`${length}${bits}00000000${tag}${end}`);
  made.writeUInt16LE(0xfffe, 8);
  return made;
};

test.each([
  ['a plain format', wav(plain, second)],
  ['an extension of nothing', wav(extended('0000'), second)],
  ['the extensible format', wav(extensible('1000', '0100'), second)],
  ['fewer bits of use than there are', wav(extensible('0c00', '0100'), second)],
])('made by hand, with %s → its length', async (_, content) => {
  await writeFile(at('made.wav'), content);
  expect(await lengthOf(at('made.wav'))).toBe(1_000);
});

test.each([
  ['the extensible format, of MP3', wav(extensible('1000', '5500'), second)],
  [
    'more bytes in a second than its samples have',
    wav(chunk('fmt ', Buffer.from('01000100401f0000813e000002001000', 'hex')), second),
  ],
  ['an identifier that is no tag', wav(extensible('1000', '0100', '00'.repeat(14)), second)],
  ['an extension longer than it says', wav(extensible('1000', '0100', undefined, '0a00'), second)],
  ['another chunk behind the samples', wav(plain, second, chunk('LIST', Buffer.from('INFO')))],
  ['half of the last two samples', wav(stereo, chunk('data', Buffer.alloc(15_998)))],
  ['AC-3 for a digital cable', wav(stereo, chunk('data', Buffer.alloc(16_000).fill('72f81f4e', 9_000, 9_004, 'hex')))],
  ['the format behind the samples', wav(second, plain)],
  ['an odd chunk without the byte that fills it', wav(chunk('JUNK', Buffer.alloc(7)), plain, second)],
  ['a format of 8 MB', wav(chunk('fmt ', Buffer.alloc(8_000_000)), second)],
  ['big-endian', Buffer.from(wav(plain, second)).fill('RIFX', 0, 4)],
  ['nothing', Buffer.alloc(0)],
])('made by hand, with %s → left to ffmpeg', async (_, content) => {
  await writeFile(at('made.wav'), content);
  expect(await lengthOf(at('made.wav'))).toBeUndefined();
});

test.each([
  [24, 's32le', 4],
  [16, 's24le', 3],
])('%s bits in %s, behind an odd chunk → its samples', async (bits, place, bytes) => {
  const raw = await readFile(await ffmpeg(...sine(1), '-ar', '8000', '-f', place, at('padded.raw')));
  const used = bits.toString(16).padEnd(4, '0');
  const padded = extensible(used, '0100');
  padded.writeUInt32LE(8_000 * bytes, 16);
  padded.writeUInt16LE(bytes, 20);
  padded.writeUInt16LE(8 * bytes, 22);
  const odd = Buffer.concat([chunk('odd ', Buffer.alloc(7)), Buffer.alloc(1)]);
  await writeFile(at('padded.wav'), wav(odd, padded, chunk('data', raw)));
  const decode = async (input: string) => {
    await decodeAudio({ input, output: at('decoded'), maxDurationMs: 60_000, timeLimitMs: 20_000 });
    return readFile(at('decoded'));
  };
  const full = await ffmpeg(...sine(1), '-ar', '8000', '-c:a', `pcm_${place}`, at('full.wav'));
  expect((await decode(at('padded.wav'))).equals(await decode(full))).toBe(true);
});
