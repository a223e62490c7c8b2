/**
 * Reads the header of WAV files (RIFF; Microsoft and IBM, Multimedia Programming Interface and Data Specifications, 1991).
 * Of a plain one it knows the length: ffmpeg would find the same, but its start takes 50 ms of processor time, more than
 * all the rest of a short upload.
 */
import { open } from 'node:fs/promises';

export interface WavHeader {
  /** ffmpeg's name for how the samples are stored. */
  codec: string;
  /** Of a plain file: usual chunks, and behind them samples to its end, which are not compressed. */
  durationMs: number | undefined;
}

/** ffmpeg's codecs by format tag (PCM, IEEE float, A-law, µ-law) and bits per sample. */
const codecs: Record<number, Record<number, string>> = {
  1: { 8: 'pcm_u8', 16: 'pcm_s16le', 24: 'pcm_s24le', 32: 'pcm_s32le' },
  3: { 32: 'pcm_f32le', 64: 'pcm_f64le' },
  6: { 8: 'pcm_alaw' },
  7: { 8: 'pcm_mulaw' },
};

/** Chunks that may stand before the samples, and the fewest bytes of each. */
const usualChunks = new Map([['fmt ', 16], ['LIST', 4], ['fact', 4], ['bext', 602], ['JUNK', 0], ['PAD ', 0], ['FLLR', 0]]); // prettier-ignore

/**
 * How compressed audio for a digital cable begins, in 16-bit samples (IEC 61937). ffmpeg decodes it even when it is
 * told that the samples are plain. It looks for it in so many bytes of the samples.
 */
const [cableSync, cableBytes] = [Buffer.from('72f81f4e', 'hex'), 64 * 1024];
const headBytes = 2 * cableBytes;

/**
 * Reads the header of a plain WAV, or of one whose samples have fewer bits than their place, which ffmpeg would decode as
 * noise.
 * @returns undefined for every other file, which ffmpeg has to judge
 */
export async function readWav(path: string): Promise<WavHeader | undefined> {
  await using file = await open(path);
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  const head = buffer.subarray(0, bytesRead);
  if (!/^(RIFF|RF64)....WAVE/s.test(head.toString('latin1', 0, 12))) return undefined;
  const formats: Buffer[] = [];
  let isUsual = true;
  for (let at = 12; at + 8 <= head.length;) {
    const [name, start, bytes] = [head.toString('latin1', at, at + 4), at + 8, head.readUInt32LE(at + 4)];
    if (name === 'data') {
      const reaches = start + bytes === size && !head.subarray(start, start + cableBytes).includes(cableSync);
      return describe(formats, isUsual && reaches ? bytes : 0);
    }
    if (name === 'fmt ') formats.push(head.subarray(start, start + bytes));
    // After a chunk of an odd size there may or may not be a byte of padding.
    isUsual &&= bytes % 2 === 0 && bytes >= (usualChunks.get(name) ?? Infinity);
    at = start + bytes + (bytes % 2);
  }
  return undefined;
}

/**
 * @param bytes of the samples; 0 where the file is not plain
 * @returns undefined where the format is unusual or contradicts itself
 */
function describe([format, ...more]: readonly Buffer[], bytes: number): WavHeader | undefined {
  if (format === undefined || more.length > 0 || ![16, 18, 40].includes(format.length)) return undefined;
  const [channels, rate, bytesPerSecond] = [format.readUInt16LE(2), format.readUInt32LE(4), format.readUInt32LE(8)];
  const [frameBytes, bits] = [format.readUInt16LE(12), format.readUInt16LE(14)];
  const codec = codecs[readTag(format)]?.[bits];
  const isUsual = channels >= 1 && channels <= 8 && rate >= 4_000 && rate <= 384_000;
  const isConsistent = frameBytes === (channels * bits) / 8 && bytesPerSecond === frameBytes * rate;
  if (codec === undefined || !isUsual || !isConsistent) return undefined;
  if (bytes > 0 && bytes % frameBytes === 0) return { codec, durationMs: Math.round((bytes * 1000) / bytesPerSecond) };
  const isPadded = format.length === 40 && format.readUInt16LE(18) < bits;
  return isPadded ? { codec, durationMs: undefined } : undefined;
}

/** The end of an identifier of WAVE_FORMAT_EXTENSIBLE that holds a format tag in its first two bytes. */
const identifierEnd = Buffer.from('000000001000800000aa00389b71', 'hex');

/**
 * @returns the format tag; 0 for an extension that does not describe samples. Samples with fewer bits than their place are
 *   at its upper end, so they are read as if they filled it.
 */
function readTag(format: Buffer): number {
  const extensionBytes = format.length < 18 ? 0 : format.readUInt16LE(16);
  if (extensionBytes === 0) return format.readUInt16LE(0);
  if (format.readUInt16LE(0) !== 0xfffe || extensionBytes !== 22 || format.length !== 40) return 0;
  const isIn = format.readUInt16LE(18) > 0 && format.readUInt16LE(18) <= format.readUInt16LE(14);
  return isIn && format.subarray(26).equals(identifierEnd) ? format.readUInt16LE(24) : 0;
}
