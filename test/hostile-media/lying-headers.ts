/** Headers that claim what is not so: lengths, rates, channels, counts. */
import { sine } from '../support/uploads/audio-fixtures.ts';
import { id3, overwrite } from './containers.ts';
import { completes, fails, refused, unreadable } from './entry.ts';
import { writeInBox } from './mp4-boxes.ts';
import type { Bench } from './bench.ts';
import type { HostileFile, Outcome } from './entry.ts';

const kind = 'lying headers';

/** WAV of one second, 8 kHz mono 16 bit, with numbers written over its header of 44 bytes. */
function wav(
  name: string,
  made: string,
  lies: [at: number, bytes: 2 | 4, value: number][],
  outcome: Outcome,
): HostileFile {
  const make = (): Buffer => {
    const file = Buffer.alloc(44 + 16_000);
    file.write('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 0, 'latin1');
    file.write('data', 36, 'latin1');
    const truth = [[4, 4, 36 + 16_000], [24, 4, 8_000], [28, 4, 16_000], [32, 2, 2], [34, 2, 16], [40, 4, 16_000]]; // prettier-ignore
    for (const [at, bytes, value] of [...truth, ...lies]) file.writeUIntLE(value!, at!, bytes!);
    return file;
  };
  return { kind, name, made: `WAV: ${made}`, make, outcome };
}

const most = 0xffff_ffff;
const wavs: HostileFile[] = [
  wav('sizes-zero.wav', 'sizes of 0', [[4, 4, 0], [40, 4, 0]], completes(1_000)), // prettier-ignore
  wav('sizes-most.wav', 'sizes of 0xffffffff', [[4, 4, most], [40, 4, most]], completes(1_000)), // prettier-ignore
  wav('too-small.wav', 'half of its samples claimed', [[40, 4, 8_000]], completes(500)),
  wav('no-rate.wav', 'a sample rate of 0', [[24, 4, 0]], unreadable),
  wav('eight-hertz.wav', '8 samples per second', [[24, 4, 8], [28, 4, 16]], completes(1_000_000, 5_000)), // prettier-ignore
  wav('gigahertz.wav', '4 GHz', [[24, 4, most]], unreadable),
  wav('no-channels.wav', 'no channels', [[22, 2, 0]], unreadable),
  wav('nine-channels.wav', 'nine channels, of places that nobody knows', [[22, 2, 9], [32, 2, 18]], completes(111, 1)), // prettier-ignore
  wav('all-channels.wav', '65,535 channels', [[22, 2, 65_535]], refused(422, 'too_many_channels')),
  wav('no-bits.wav', 'samples of 0 bits', [[34, 2, 0]], unreadable),
  wav('block-align.wav', 'blocks of 0 bytes', [[32, 2, 0]], completes(1_000)),
  wav(
    'game-codec.wav',
    'a codec of video games, which ffmpeg knows and the list does not',
    [[20, 2, 0x61], [32, 2, 512], [34, 2, 4]], // prettier-ignore
    fails('unsupported_media'),
  ),
  wav('unknown-codec.wav', 'a codec that nobody knows', [[20, 2, 0x7777]], unreadable),
];

function lie(
  name: string,
  made: string,
  encoding: string[],
  change: (bytes: Buffer) => Buffer,
  outcome: Outcome = completes(2_000),
): HostileFile {
  const make = async ({ ffmpeg }: Bench) => change(await ffmpeg(name.split('.').at(-1)!, ...sine(2), ...encoding));
  return { kind, name, made, make, outcome };
}

const mdia = ['moov', 'trak', 'mdia'];
const stbl = [...mdia, 'minf', 'stbl'];
const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const others: HostileFile[] = [
  lie('xing-hours.mp3', 'MP3: Xing claims 0x7fffffff frames', [], (mp3) =>
    overwrite(mp3, Buffer.from('Info'), number(0x7fff_ffff), 8),
  ),
  lie('mvhd-years.m4a', 'MP4: mvhd claims 0xffffffff units', [], (mp4) => writeInBox(mp4, ['moov', 'mvhd'], 16, most)),
  lie(
    'timescale-zero.m4a',
    'MP4: a time scale of 0',
    [],
    (mp4) => writeInBox(mp4, [...mdia, 'mdhd'], 12, 0),
    completes(23, 30),
  ),
  lie(
    'stts-count.m4a',
    'MP4: stts claims 0xffffffff entries',
    [],
    (mp4) => writeInBox(mp4, [...stbl, 'stts'], 4, most),
    unreadable,
  ),
  lie(
    'stsz-size.m4a',
    'MP4: stsz claims samples of 2 GiB',
    [],
    (mp4) => writeInBox(mp4, [...stbl, 'stsz'], 4, 0x7fff_ffff),
    unreadable,
  ),
  lie(
    'stco-beyond.m4a',
    'MP4: chunks beyond the end of the file',
    [],
    (mp4) => writeInBox(mp4, [...stbl, 'stco'], 8, most),
    unreadable,
  ),
  lie(
    'stts-delta.m4a',
    'MP4: a sample that takes years',
    [],
    (mp4) => writeInBox(mp4, [...stbl, 'stts'], 12, 0x7fff_ffff),
    fails('unsupported_media'),
  ),
  lie('granule-years.ogg', 'Ogg: the last granule is 2^62', ['-c:a', 'libvorbis'], (ogg) =>
    withLastGranule(ogg, 2n ** 62n),
  ),
  lie('stream-info.flac', 'FLAC: 2^36 − 1 samples claimed', [], (flac) => {
    const changed = Buffer.from(flac);
    changed[21]! |= 0x0f;
    return changed.fill(0xff, 22, 26);
  }),
  lie('duration.webm', 'WebM: a duration of 10^300 ms', ['-c:a', 'libopus'], (webm) => {
    const years = Buffer.alloc(8);
    years.writeDoubleBE(1e300);
    return overwrite(webm, Buffer.from([0x44, 0x89, 0x88]), years, 3);
  }),
  lie(
    'frames.aiff',
    'AIFF: 0xffffffff frames claimed',
    [],
    (aiff) => overwrite(aiff, Buffer.from('COMM'), number(most), 10),
    unreadable,
  ),
  lie(
    'size.au',
    'AU: a size of 0xfffffffe',
    [],
    (au) => {
      const changed = Buffer.from(au);
      changed.writeUInt32BE(0xffff_fffe, 8);
      return changed;
    },
    unreadable,
  ),
  lie(
    'size.caf',
    'CAF: a chunk of 2^63 − 1 bytes',
    ['-c:a', 'pcm_s16le'],
    (caf) => overwrite(caf, Buffer.from('data'), Buffer.from('7fffffffffffffff', 'hex'), 4),
    unreadable,
  ),
  lie('tags.mp3', 'MP3: 20 MB of ID3 tags', [], (mp3) =>
    Buffer.concat([id3('PRIV', Buffer.alloc(20_000_000, 'x')), mp3]),
  ),
  lie(
    'tag-endless.mp3',
    'MP3: an ID3 tag larger than the file',
    [],
    (mp3) => Buffer.concat([Buffer.from('ID3\x03\0\0\x7f\x7f\x7f\x7f', 'latin1'), mp3]),
    unreadable,
  ),
];

/** Of an Ogg page (RFC 3533), so that it fits whatever was changed. */
function checksum(page: Buffer): number {
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}

/** The Ogg file with a changed position in the last page. */
function withLastGranule(bytes: Buffer, granule: bigint): Buffer {
  const changed = Buffer.from(bytes);
  const page = changed.subarray(changed.lastIndexOf('OggS'));
  page.writeBigInt64LE(granule, 6);
  page.writeUInt32LE(0, 22);
  page.writeUInt32LE(checksum(page), 22);
  return changed;
}

export const lyingHeaders: HostileFile[] = [...wavs, ...others];
