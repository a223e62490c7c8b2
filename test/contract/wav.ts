/** A WAV file of a quiet square wave: 8 kHz, 16 bit, mono. Different `pitch`, different bytes. */
export function wav(milliseconds: number, pitch = 20): Blob {
  const samples = milliseconds * 8;
  const file = Buffer.alloc(44 + 2 * samples);
  file.write('RIFF', 0);
  file.writeUInt32LE(36 + 2 * samples, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(8000, 24);
  file.writeUInt32LE(16000, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(2 * samples, 40);
  for (let i = 0; i < samples; i += 1) file.writeInt16LE(i % pitch < pitch / 2 ? 500 : -500, 44 + 2 * i);
  return new Blob([file]);
}
