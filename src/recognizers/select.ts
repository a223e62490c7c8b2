import { createPocketSphinx } from './pocketsphinx.ts';
import { createSherpaOnnx } from './sherpa-onnx.ts';
import type { Recognizer } from './recognizer.ts';

/** What `RECOGNIZER` may say, the default first. */
export const recognizerNames = ['pocketsphinx', 'sherpa-onnx'] as const;

export type RecognizerName = (typeof recognizerNames)[number];

export interface RecognizerSettings {
  recognizer: RecognizerName;
  /** `SHERPA_ONNX_MODEL`: a folder. */
  sherpaOnnxModel: string | undefined;
}

const makers: Record<RecognizerName, (settings: RecognizerSettings) => Recognizer> = {
  pocketsphinx: () => createPocketSphinx(),
  // The configuration asks for a folder where this is the recognizer.
  'sherpa-onnx': ({ sherpaOnnxModel }) => createSherpaOnnx({ folder: sherpaOnnxModel! }),
};

export function selectRecognizer(settings: RecognizerSettings): Recognizer {
  return makers[settings.recognizer](settings);
}
