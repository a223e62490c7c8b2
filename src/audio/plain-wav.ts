/**
 * Measures WAV files as recorders write them: their chunks say how long they are. ffmpeg would find the same length,
 * but its start takes 50 ms of processor time, more than all the rest of a short upload.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

interface Chunk {
  id: string;
  start: number;
  bytes: number;
}

export interface PlainWav {
  durationMs: number;
  /** ffmpeg's name for how the samples are stored. */
  codec: string;
}

/** ffmpeg's codecs by format tag (PCM, IEEE float, A-law, µ-law) and bits per sample. */
const codecs: Record<number, Record<number, string>> = {
  1: { 8: 'pcm_u8', 16: 'pcm_s16le', 24: 'pcm_s24le', 32: 'pcm_s32le' },
  3: { 32: 'pcm_f32le', 64: 'pcm_f64le' },
  6: { 8: 'pcm_alaw' },
  7: { 8: 'pcm_mulaw' },
};

/** Chunks that may stand beside the format and the samples, and the fewest bytes of each. */
const otherChunks = new Map([['LIST', 4], ['fact', 4], ['bext', 602], ['JUNK', 0], ['PAD ', 0], ['FLLR', 0]]); // prettier-ignore
const mostChunks = 16;

/**
 * How compressed audio for a digital cable begins, in 16-bit samples (IEC 61937). ffmpeg decodes it even when it is
 * told that the samples are plain.
 */
const cableSync = Buffer.from('72f81f4e', 'hex');
/** ffmpeg looks for it in so many bytes of the samples. */
const cableBytes = 64 * 1024;

/**
 * Length (the end of the last sample) and codec of a plain WAV file: its chunks fill the file, its samples are not
 * compressed and stand in one chunk (RIFF; Microsoft and IBM, Multimedia Programming Interface and Data Specifications,
 * 1991).
 * @returns undefined for every other file, which ffmpeg has to judge
 */
export async function readPlainWav(path: string): Promise<PlainWav | undefined> {
  await using file = await open(path);
  const chunks = await readChunks(file);
  const [format, samples, ...more] = chunks.filter(({ id }) => !otherChunks.has(id));
  if (format?.id !== 'fmt ' || samples?.id !== 'data' || more.length > 0) return undefined;
  if (![16, 18, 40].includes(format.bytes)) return undefined;
  const layout = readLayout(await readBytes(file, format.start, format.bytes));
  if (layout === undefined || samples.bytes === 0 || samples.bytes % layout.frameBytes !== 0) return undefined;
  const beginning = await readBytes(file, samples.start, Math.min(samples.bytes, cableBytes));
  if (beginning.includes(cableSync)) return undefined;
  const { codec, frameBytes, rate } = layout;
  return { durationMs: Math.round((samples.bytes * 1000) / (frameBytes * rate)), codec };
}

/** @returns all chunks of a RIFF file; none when they don't fill it exactly, are too many, or are smaller than usual */
async function readChunks(file: FileHandle): Promise<Chunk[]> {
  const { size } = await file.stat();
  const riff = await readBytes(file, 0, 12);
  if (riff.toString('latin1', 0, 4) !== 'RIFF' || riff.toString('latin1', 8) !== 'WAVE') return [];
  const chunks: Chunk[] = [];
  for (let at = 12; at < size && chunks.length < mostChunks;) {
    const header = await readBytes(file, at, 8);
    const chunk = { id: header.toString('latin1', 0, 4), start: at + 8, bytes: header.readUInt32LE(4) };
    // After a chunk of an odd size there may or may not be a byte of padding, so it is refused.
    if (chunk.bytes % 2 === 1 || chunk.bytes < (otherChunks.get(chunk.id) ?? 0)) return [];
    chunks.push(chunk);
    at = chunk.start + chunk.bytes;
    if (at === size) return chunks;
  }
  return [];
}

interface Layout {
  codec: string;
  /** Bytes of one sample in all channels. */
  frameBytes: number;
  /** Samples per second in one channel. */
  rate: number;
}

/** @returns what a format chunk says; undefined when it is unusual or contradicts itself */
function readLayout(format: Buffer): Layout | undefined {
  const [channels, rate, bytesPerSecond] = [format.readUInt16LE(2), format.readUInt32LE(4), format.readUInt32LE(8)];
  const [frameBytes, bits] = [format.readUInt16LE(12), format.readUInt16LE(14)];
  const codec = codecs[readTag(format)]?.[bits];
  const isUsual = channels >= 1 && channels <= 8 && rate >= 4_000 && rate <= 384_000;
  const isConsistent = frameBytes === (channels * bits) / 8 && bytesPerSecond === frameBytes * rate;
  return codec !== undefined && isUsual && isConsistent ? { codec, frameBytes, rate } : undefined;
}

/** The end of an identifier of WAVE_FORMAT_EXTENSIBLE that holds a format tag in its first two bytes. */
const identifierEnd = Buffer.from('000000001000800000aa00389b71', 'hex');

/** @returns the format tag; 0 for an extension that does not describe samples */
function readTag(format: Buffer): number {
  const extensionBytes = format.length < 18 ? 0 : format.readUInt16LE(16);
  if (extensionBytes === 0) return format.readUInt16LE(0);
  if (format.readUInt16LE(0) !== 0xfffe || extensionBytes !== 22 || format.length !== 40) return 0;
  const [bits, usedBits] = [format.readUInt16LE(14), format.readUInt16LE(18)];
  return bits === usedBits && format.subarray(26).equals(identifierEnd) ? format.readUInt16LE(24) : 0;
}

/** Bytes beyond the end of the file are zeros. */
async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  await file.read(bytes, 0, length, position);
  return bytes;
}
