/**
 * Files whose times are only ffmpeg's guess. Where no container tells them, ffmpeg works them out from the sample rate
 * that the first header names. When that one is false, or another one follows, only the decoded samples tell the time.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/**
 * Whether the times that ffmpeg gives to packets can't be right: in AAC (ADTS) whose sample rate changes, also in MPEG-TS,
 * in FLAC that was joined or whose header names another rate than its frames, and in Ogg of several parts, one after the
 * other.
 */
export async function hasFalseTimes(path: string): Promise<boolean> {
  await using file = await open(path);
  const bytes = new ForwardBytes(file);
  const start = id3Bytes(await bytes.at(0, 10));
  const mark = await bytes.at(start, 4);
  if (mark.toString('latin1') === 'fLaC')
    return (await isFlacOfFalseRate(bytes, start)) || (await bytes.find(joinedFlac, start + 4)) !== undefined;
  if (mark.toString('latin1') === 'OggS') return await isOggOfParts(bytes, start);
  if (mark[0] === tsSync) return await hasTsOfOtherRate(bytes);
  return isAdts(mark) && (await hasAdtsOfOtherRate(bytes, start));
}

/** The length of an ID3v2 tag, which may stand before everything else. */
function id3Bytes(head: Buffer): number {
  if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return 0;
  return 10 + ((head[6]! << 21) | (head[7]! << 14) | (head[8]! << 7) | head[9]!);
}

/** How FLAC begins: its mark, and the header of its first block, which has 34 bytes (RFC 9639, section 8). */
const joinedFlac = Buffer.from('fLaC\0\0\0\x22', 'latin1');
/** Rates by the code in a frame's header (RFC 9639, section 9.1.2); 0 leaves it to the file's header. */
const flacRates = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

async function isFlacOfFalseRate(bytes: ForwardBytes, start: number): Promise<boolean> {
  const header = await bytes.at(start + 18, 4);
  if (header.length < 4) return false;
  const rate = header.readUInt32BE(0) >>> 12;
  for (let at = start + 4; ;) {
    const block = await bytes.at(at, 4);
    if (block.length < 4) return false;
    at += 4 + block.readUIntBE(1, 3);
    if (block[0]! < 0x80) continue;
    const frame = await bytes.at(at, 3);
    // Codes without an entry name a rate that is not among the usual ones: such a frame is believed.
    const own = frame.length < 3 ? 0 : (flacRates[frame[2]! & 0x0f] ?? 0);
    return own !== 0 && own !== rate;
  }
}

/** More pages or frames than four hours of audio have: nobody is kept waiting for a file that is made of headers. */
const mostSteps = 2_000_000;

/** A page that begins a stream stands behind one that goes on with another (RFC 3533, sections 4 and 6). */
async function isOggOfParts(bytes: ForwardBytes, start: number): Promise<boolean> {
  let hasBegun = false;
  let at: number | undefined = start;
  for (let step = 0; step < mostSteps; step += 1) {
    const page = await bytes.at(at, 27 + 255);
    if (page.length < 27) return false;
    if (page.toString('latin1', 0, 4) !== 'OggS') {
      at = await bytes.find(oggPage, at + 1);
      if (at === undefined) return false;
      continue;
    }
    const isFirst = (page[5]! & 0x02) !== 0;
    if (isFirst && hasBegun) return true;
    hasBegun ||= !isFirst;
    const segments = page.subarray(27, 27 + page[26]!);
    at += 27 + segments.length + segments.reduce((sum, length) => sum + length, 0);
  }
  return false;
}

const oggPage = Buffer.from('OggS');

/** A frame of AAC as ISO/IEC 13818-7, section 6.2, describes it. MPEG audio has another layer in the same bits. */
const isAdts = (header: Buffer): boolean => header[0] === 0xff && (header[1]! & 0xf6) === 0xf0;
const adtsHeaderBytes = 7;

/** A code. */
const rateOf = (header: Buffer): number => (header[2]! >> 2) & 0x0f;

async function hasAdtsOfOtherRate(bytes: ForwardBytes, start: number): Promise<boolean> {
  let rate: number | undefined;
  let at: number | undefined = start;
  for (let step = 0; step < mostSteps; step += 1) {
    const header = await bytes.at(at, adtsHeaderBytes);
    if (header.length < adtsHeaderBytes) return false;
    const frameBytes = ((header[3]! & 0x03) << 11) | (header[4]! << 3) | (header[5]! >> 5);
    if (!isAdts(header) || frameBytes < adtsHeaderBytes) {
      at = await bytes.find(adtsSync, at + 1);
      if (at === undefined) return false;
      continue;
    }
    if (rate !== undefined && rateOf(header) !== rate) return true;
    rate = rateOf(header);
    at += frameBytes;
  }
  return false;
}

const adtsSync = Buffer.of(0xff);

/** How each packet of MPEG-TS begins, and its length (ITU-T H.222.0, section 2.4.3.2). */
const tsSync = 0x47;
const tsBytes = 188;

/** A frame of AAC begins where a packet of audio (PES) does; ffmpeg counts the frames behind it with the rate of before. */
async function hasTsOfOtherRate(bytes: ForwardBytes): Promise<boolean> {
  const rates = new Map<number, number>();
  for (let step = 0; step < mostSteps; step += 1) {
    const packet = await bytes.at(step * tsBytes, tsBytes);
    if (packet.length < tsBytes || packet[0] !== tsSync) return false;
    const frame = firstFrameOf(packet);
    if (!isAdts(frame) || frame.length < adtsHeaderBytes) continue;
    const stream = packet.readUInt16BE(1) & 0x1fff;
    if ((rates.get(stream) ?? rateOf(frame)) !== rateOf(frame)) return true;
    rates.set(stream, rateOf(frame));
  }
  return false;
}

/** What follows the header of the audio (PES) that begins in a packet; nothing where none does (section 2.4.3.6). */
function firstFrameOf(packet: Buffer): Buffer {
  const [beginsHere, hasAdaptation] = [(packet[1]! & 0x40) !== 0, (packet[3]! & 0x20) !== 0];
  if (!beginsHere) return packet.subarray(tsBytes);
  const pes = packet.subarray(4 + (hasAdaptation ? 1 + packet[4]! : 0));
  const isAudio = pes.length > 9 && pes.readUInt32BE(0) >= 0x1c0 && pes.readUInt32BE(0) <= 0x1df;
  return isAudio ? pes.subarray(9 + pes[8]!) : pes.subarray(pes.length);
}

const windowBytes = 1024 * 1024;

/** A file that is read from its beginning to its end. */
class ForwardBytes {
  readonly #file: FileHandle;
  #window = Buffer.alloc(0);
  #from = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** At most as many as asked for, fewer at the end of the file. */
  async at(position: number, length: number): Promise<Buffer> {
    if (position < this.#from || position + length > this.#from + this.#window.length) {
      const window = Buffer.alloc(windowBytes);
      const { bytesRead } = await this.#file.read(window, 0, windowBytes, position);
      this.#window = window.subarray(0, bytesRead);
      this.#from = position;
    }
    return this.#window.subarray(position - this.#from, position - this.#from + length);
  }

  /** Where some bytes come next. */
  async find(wanted: Buffer, from: number): Promise<number | undefined> {
    for (let position = from; ; position += windowBytes - wanted.length) {
      const bytes = await this.at(position, windowBytes);
      const found = bytes.indexOf(wanted);
      if (found >= 0) return position + found;
      if (bytes.length < windowBytes) return undefined;
    }
  }
}
