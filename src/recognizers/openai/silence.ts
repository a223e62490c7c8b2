const [sampleRate, bytesPerSample] = [16_000, 2];

/** A second of silence as a WAV file: 16 kHz, mono, 16 bits. */
export function aSecondOfSilence(): File {
  const bytes = sampleRate * bytesPerSample;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  // PCM, one channel.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * bytesPerSample, 28);
  header.writeUInt16LE(bytesPerSample, 32);
  header.writeUInt16LE(8 * bytesPerSample, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return new File([header, new Uint8Array(bytes)], 'silence.wav', { type: 'audio/wav' });
}
