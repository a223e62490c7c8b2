/** Real containers that refer to files outside of themselves, or carry some. */
import { sine } from '../support/uploads/audio-fixtures.ts';
import { completes, silentPictures, unreadable } from './entry.ts';
import { box, changeBox } from './mp4-boxes.ts';
import type { HostileFile, Outcome } from './entry.ts';

const kind = 'references inside containers';
const tone = sine(1);
const dref = ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref'];

/** One data reference instead of "in this file". */
const references = (entry: Buffer): Buffer => Buffer.concat([Buffer.from('0000000000000001', 'hex'), entry]);

/** A Macintosh alias record with an absolute path, as ffmpeg reads it (`mov_read_dref`). */
function alias(path: string): Buffer {
  const record = Buffer.alloc(150);
  record.write('\x04disk', 14, 'latin1');
  record.write('\x0acanary.wav', 54, 'latin1');
  record.writeInt16BE(-1, 134);
  const absolute = Buffer.from(`disk${path.replaceAll('/', ':')}`.padEnd(2 * Math.ceil((path.length + 4) / 2), '\0'));
  const tag = Buffer.alloc(4);
  tag.writeUInt16BE(2, 0);
  tag.writeUInt16BE(absolute.length, 2);
  return box('alis', record, tag, absolute, Buffer.from('ffff0000', 'hex'));
}

/** ID3v2.3 with one frame. */
export function id3(frame: string, content: Buffer): Buffer {
  const head = Buffer.from(`${frame}\0\0\0\0\0\0`, 'latin1');
  head.writeUInt32BE(content.length, 4);
  const size = head.length + content.length;
  const sevenBits = [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f);
  return Buffer.concat([Buffer.from('ID3\x03\0\0', 'latin1'), Buffer.from(sevenBits), head, content]);
}

/** Puts other bytes in the place of as many. */
export function overwrite(bytes: Buffer, mark: Buffer, other: Buffer, offset = 0): Buffer {
  const at = bytes.indexOf(mark);
  if (at < 0) throw new Error(`no ${mark.toString('hex')}`);
  const changed = Buffer.from(bytes);
  other.copy(changed, at + offset);
  return changed;
}

const container = (name: string, made: string, outcome: Outcome, make: HostileFile['make']): HostileFile => {
  return { kind, name, made, make, outcome };
};

export const containers: HostileFile[] = [
  container(
    'data-reference.mov',
    'a movie whose data reference is an alias of a local file',
    unreadable,
    async ({ ffmpeg, canary }) =>
      changeBox(await ffmpeg('mov', ...tone, '-c:a', 'pcm_s16le'), dref, () => references(alias(canary))),
  ),
  container(
    'data-reference.mp4',
    'an MP4 whose data reference is an address',
    completes(1_000),
    async ({ ffmpeg, url }) =>
      changeBox(await ffmpeg('mp4', ...tone), dref, () => references(box('url ', Buffer.from(`\0\0\0\0${url}\0`)))),
  ),
  container('reference-movie.mov', 'a QuickTime reference movie that names an address', silentPictures, ({ url }) => {
    const target = Buffer.from(`\0\0\0\0url \0\0\0\0${url}\0`);
    return Buffer.concat([
      box('ftyp', Buffer.from('qt  \0\0\0\0qt  ')),
      box('moov', box('rmra', box('rmda', box('rdrf', target)))),
    ]);
  }),
  container('compressed-header.mov', 'a movie whose compressed header claims 4 GiB', unreadable, () => {
    const claimed = Buffer.from('ffffffff', 'hex');
    const compressed = box('cmov', box('dcom', Buffer.from('zlib')), box('cmvd', claimed, Buffer.alloc(64)));
    return Buffer.concat([box('ftyp', Buffer.from('qt  \0\0\0\0qt  ')), box('moov', compressed)]);
  }),
  container(
    'linked-segment.mka',
    'Matroska whose next segment is another file (NextFilename in the place of WritingApp)',
    completes(1_000),
    async ({ ffmpeg }) => {
      // As long as what takes its place, whatever ffmpeg calls itself.
      const app = ['-metadata', 'encoding_tool=thirteen-long'];
      const mka = await ffmpeg('mka', ...tone, ...app, '-c:a', 'flac');
      const writingApp = Buffer.from([0x57, 0x41, 0x8d]);
      return overwrite(
        mka,
        writingApp,
        Buffer.concat([Buffer.from([0x3e, 0x83, 0xbb, 0x8c]), Buffer.from('./canary.wav')]),
      );
    },
  ),
  container(
    'attachment.mka',
    'Matroska with a playlist and a program attached',
    completes(1_000),
    async ({ ffmpeg, file, url }) => {
      const list = await file('list.m3u8', `#EXTM3U\n#EXTINF:1,\n${url}\n`);
      const attached = ['-attach', list, '-attach', '/bin/true', '-metadata:s:t', 'mimetype=application/x-font-ttf'];
      return ffmpeg('mka', ...tone, ...attached, '-c:a', 'libopus');
    },
  ),
  container(
    'picture-link.mp3',
    'an MP3 whose cover is a link (ID3 picture of the type "-->")',
    completes(1_000),
    async ({ ffmpeg, url }) =>
      Buffer.concat([
        id3('APIC', Buffer.from(`\0-->\0\x03\0${url}`)),
        await ffmpeg('mp3', ...tone, '-id3v2_version', '0'),
      ]),
  ),
  container('header-then-list.mp3', 'an ID3 tag, then a playlist', unreadable, ({ canary }) =>
    Buffer.concat([id3('TIT2', Buffer.from('\0x')), Buffer.from(`#EXTM3U\n#EXTINF:1,\n${canary}\n`)]),
  ),
];
