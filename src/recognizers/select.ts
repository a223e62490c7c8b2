import { createPocketSphinx } from './pocketsphinx.ts';
import type { Recognizer } from './recognizer.ts';

/** What `RECOGNIZER` may say, the default first. */
export const recognizerNames = ['pocketsphinx'] as const;

export type RecognizerName = (typeof recognizerNames)[number];

const makers: Record<RecognizerName, () => Recognizer> = {
  pocketsphinx: createPocketSphinx,
};

export function selectRecognizer(name: RecognizerName): Recognizer {
  return makers[name]();
}
