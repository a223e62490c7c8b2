import { bytesPerMs } from '../../audio/samples.ts';
import { wavHeader } from '../../audio/wav-header.ts';

/** A second of silence as a WAV file: 16 kHz, mono, 16 bits. */
export function aSecondOfSilence(): File {
  const bytes = 1_000 * bytesPerMs;
  return new File([new Uint8Array(wavHeader(bytes)), new Uint8Array(bytes)], 'silence.wav', { type: 'audio/wav' });
}
