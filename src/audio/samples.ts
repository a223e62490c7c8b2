/** 16,000 samples per second of two bytes, one channel. */
export const samplesPerMs = 16;
export const bytesPerSample = 2;
export const bytesPerMs = bytesPerSample * samplesPerMs;

/** The error for decoded audio that has become shorter. Nobody writes to it any more, so its disk lost a part. */
export const endsTooEarly = (file: string): Error => new Error(`${file} ends too early`);

/** Stands before so many bytes of samples: 16 kHz, mono, s16le. */
export function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  // PCM, one channel.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(1000 * samplesPerMs, 24);
  header.writeUInt32LE(1000 * bytesPerMs, 28);
  header.writeUInt16LE(bytesPerSample, 32);
  header.writeUInt16LE(8 * bytesPerSample, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}
