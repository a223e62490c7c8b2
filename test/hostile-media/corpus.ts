/** Files that should make trouble, and what must become of each. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wavHeader } from '../../src/audio/samples.ts';
import { ffmpeg, sine } from '../support/uploads/audio-fixtures.ts';
import { useFolder } from '../support/use-folder.ts';

/** So many ms at the end, or in words: the refusal of the upload, or the failure of its session. */
export type Outcome = number | string;

export interface HostileFile {
  /** What it is, also as the name of the upload. */
  name: string;
  bytes: Buffer;
  outcome: Outcome;
}

const folder = useFolder();
const unreadable = '415 unsupported_media';
const [localFile, address] = ['/secrets.wav', 'http://127.0.0.1:9/canary.wav'];

/** The bytes of a file that ffmpeg makes; the arguments name everything but the file. */
async function made(extension: string, ...args: string[]): Promise<Buffer> {
  return readFile(await ffmpeg(...args, join(folder, `made.${extension}`)));
}

const playlist = (target: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${target}\n#EXT-X-ENDLIST\n`;
const manifest =
  `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S" ` +
  `profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="audio/mp4"><Representation ` +
  `id="1" bandwidth="1"><BaseURL>${address}</BaseURL></Representation></AdaptationSet></Period></MPD>`;

/** Sends its reader to other files and addresses. */
const texts: [name: string, text: string][] = [
  ['playlist of a file.m3u8', playlist(localFile)],
  ['playlist of an address.m3u8', playlist(address)],
  ['playlist behind a tag.mp3', `ID3\x03\0\0\0\0\0\0${playlist(localFile)}`],
  ['files to join.wav', `ffconcat version 1.0\nfile '${localFile}'\noption safe 0\n`],
  ['manifest.mpd', manifest],
  ['session.sdp', 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=a\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n'],
  ['index.idx', '# VobSub index file, v7\nid: en, index: 0\ntimestamp: 00:00:01:000, filepos: 0\n'],
];

/** An MP4 or QuickTime file whose samples lie somewhere else, instead of "in this file". */
async function withReference(extension: string, type: string, place: Buffer): Promise<Buffer> {
  const bytes = await made(extension, ...sine(1), '-c:a', extension === 'mov' ? 'pcm_s16le' : 'aac');
  const entry = Buffer.concat([Buffer.alloc(4), Buffer.from(`${type}\0\0\0\0`), place]);
  entry.writeUInt32BE(entry.length);
  const [from, to] = [bytes.indexOf('dref') + 12, bytes.indexOf('stbl') - 4];
  for (const box of ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref']) {
    const at = bytes.indexOf(box) - 4;
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + entry.length - (to - from), at);
  }
  return Buffer.concat([bytes.subarray(0, from), entry, bytes.subarray(to)]);
}

/** A Macintosh alias record with an absolute path, as ffmpeg reads it (`mov_read_dref`). */
const alias = (path: string): Buffer =>
  Buffer.concat([Buffer.alloc(150), Buffer.from([0, 2, 0, path.length]), Buffer.from(path), Buffer.alloc(4, 0xff)]);

/** The first bytes that a format is told by, then nothing of it. */
const beginnings: [name: string, hex: string][] = [
  ['beginning.wav', '52494646ffffffff57415645666d7420'],
  ['beginning.mp4', '000000206674797069736f6d0000020069736f6d69736f3261766331'],
  ['beginning.webm', '1a45dfa39f4286810142f7810142f2810442f381084282847765626d'],
  ['beginning.wma', '3026b2758e66cf11a6d900aa0062ce6c'],
];

const most = 'ffffffff';
/** A second of silence in a WAV (16 kHz, mono, 16 bit), with other numbers in its header. */
const lyingWavs: [name: string, lies: [at: number, littleEndian: string][], Outcome][] = [
  ['no rate.wav', [[24, '00000000']], unreadable],
  ['8 Hz.wav', [[24, '08000000'], [28, '10000000']], 2_000_000],
  ['4 GHz.wav', [[24, most]], unreadable],
  ['no channels.wav', [[22, '0000']], unreadable],
  ['65,535 channels.wav', [[22, 'ffff']], '422 too_many_channels'],
  ['samples of 0 bits.wav', [[34, '0000']], unreadable],
  // Of video games: ffmpeg knows it, and the list does not.
  ['codec that is not allowed.wav', [[20, '6100'], [32, '0002'], [34, '0400']], 'failed: unsupported_media'],
  ['codec that nobody knows.wav', [[20, '7777']], unreadable],
]; // prettier-ignore

/** Two seconds of a tone, with other bytes so far behind a mark. */
const lies: [name: string, encoding: string[], mark: string, behind: number, hex: string, Outcome][] = [
  ['years of units.m4a', [], 'mvhd', 20, most, 2_000],
  ['no time scale.m4a', [], 'mdhd', 16, '00000000', 23],
  ['4 billion entries.m4a', [], 'stts', 8, most, unreadable],
  ['samples of 2 GB.m4a', [], 'stsz', 8, '7fffffff', unreadable],
  ['chunks beyond the end.m4a', [], 'stco', 12, most, unreadable],
  ['sample that takes years.m4a', [], 'stts', 16, '7fffffff', 'failed: unsupported_media'],
  ['hours of frames.mp3', [], 'Info', 8, '7fffffff', 2_000],
  ['years of samples.flac', [], 'fLaC', 22, most, 2_000],
  ['years.webm', ['-c:a', 'libopus'], 'D\x89\x88', 3, '7e37e43c8800759c', 2_000],
  ['4 billion frames.aiff', [], 'COMM', 10, most, unreadable],
  ['chunk of 2^63.caf', ['-c:a', 'pcm_s16le'], 'data', 4, '7fffffffffffffff', unreadable],
  ['frames that nobody can put in order.rm', ['-ar', '32000', '-c:a', 'ac3'], 'Int0', 0, '6e6f6e65', unreadable],
];

const key = '76a6c65c5ea762046bd749a2e632ccbb';
const encryption = ['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', key, '-encryption_kid', key];

/** As ffmpeg makes it. */
const streams: [name: string, args: string[], Outcome][] = [
  ['encrypted.mp4', [...sine(1), '-c:a', 'aac', ...encryption], unreadable],
  ['experimental codec.mka', [...sine(1), '-c:a', 'sonic', '-strict', '-2'], unreadable],
  ['years between pages.ogg', [...sine(2), '-c:a', 'libvorbis', '-bsf:a', 'setts=ts=TS+gt(N\\,60)*pow(2\\,45)'], 2_000],
  [
    'forty tracks.mka',
    [...sine(1), ...Array<string[]>(40).fill(['-map', '0']).flat(), '-c:a', 'libopus', '-b:a', '6k'],
    1_000,
  ],
  ['hundredth of a second.wav', sine(0.01), 10],
  ['one sample.wav', [...sine(1), '-af', 'atrim=end_sample=1'], 'failed: unsupported_media'],
];

/** @returns each of them, made */
export async function makeCorpus(): Promise<HostileFile[]> {
  const files: HostileFile[] = [];
  const add = (name: string, bytes: Buffer, outcome: Outcome = unreadable) => files.push({ name, bytes, outcome });
  for (const [name, text] of texts) add(name, Buffer.from(text, 'latin1'));
  for (const [name, hex] of beginnings) add(name, Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(4_000, 0x55)]));
  for (const [name, changes, outcome] of lyingWavs) {
    const bytes = Buffer.concat([wavHeader(32_000), Buffer.alloc(32_000)]);
    for (const [at, hex] of changes) bytes.write(hex, at, 'hex');
    add(name, bytes, outcome);
  }
  for (const [name, encoding, mark, behind, hex, outcome] of lies) {
    const bytes = await made(name.split('.').at(-1)!, ...sine(2), ...encoding);
    const at = bytes.indexOf(mark, 0, 'latin1');
    if (at < 0) throw new Error(`${name} has no ${mark}`);
    bytes.write(hex, at + behind, 'hex');
    add(name, bytes, outcome);
  }
  for (const [name, args, outcome] of streams) add(name, await made(name.split('.').at(-1)!, ...args), outcome);

  add(
    'much that is no frame behind the sound.aac',
    Buffer.concat([await made('aac', ...sine(2)), Buffer.alloc(48 * 1024, 0xff)]),
    2_000,
  );
  const flac = await made('flac', ...sine(2));
  add(
    'a million blocks of nothing.flac',
    Buffer.concat([flac.subarray(0, 42), Buffer.alloc(4_000_000).fill('\x04\0\0\0')]),
  );
  add('samples in a local file.mov', await withReference('mov', 'alis', alias(localFile)));
  add('samples at an address.mp4', await withReference('mp4', 'url ', Buffer.from(`${address}\0`)), 1_000);
  return files;
}

const formats = ['wav', 'mp3', 'm4a', 'aac', 'flac', 'opus', 'webm', 'aiff', 'caf', 'wma', 'avi', 'ts', 'rm'];

/** A second of a tone in each of many formats. */
export const goodFiles = (): Promise<Buffer[]> => Promise.all(formats.map((format) => made(format, ...sine(1))));
