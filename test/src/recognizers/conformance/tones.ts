import { speakTones } from '../../../support/models/tiny/spoken-tones.ts';
import type { Speech } from './conformance.ts';

/** What a tiny model hears as speech, without a fault. */
export async function toneSpeech(folder: string): Promise<Speech> {
  const clips = [
    await speakTones(folder, 'clip1', ['low', 'high', 'high', 'low']),
    await speakTones(folder, 'clip2', ['high', 'low']),
    await speakTones(folder, 'clip3', ['low']),
  ];
  return { clips: async () => clips, errorRate: 0, word: { from: 0.2, length: 0.6 } };
}
