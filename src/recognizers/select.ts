import { createOpenAi } from './openai.ts';
import { createPocketSphinx } from './pocketsphinx.ts';
import { createSherpaOnnx } from './sherpa-onnx.ts';
import { modelFolder } from './sherpa-onnx/installed-models.ts';
import type { RecognizerName } from './names.ts';
import type { SpeechServer } from './openai/client.ts';
import type { Recognizer } from './recognizer.ts';
import type { ChosenModel } from './sherpa-onnx/installed-models.ts';

export interface RecognizerSettings {
  recognizer: RecognizerName;
  /** Where downloaded models are. */
  dataDir: string;
  /** `SHERPA_ONNX_MODEL` */
  sherpaOnnxModel: ChosenModel | undefined;
  /** `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `OPENAI_MODEL` */
  openai: SpeechServer | undefined;
}

const makers: Record<RecognizerName, (settings: RecognizerSettings) => Recognizer> = {
  pocketsphinx: () => createPocketSphinx(),
  // The configuration asks for a model where this is the recognizer.
  'sherpa-onnx': ({ sherpaOnnxModel, dataDir }) =>
    createSherpaOnnx({ ...sherpaOnnxModel!, diarization: { folder: modelFolder(dataDir, 'diarization') } }),
  // As is this.
  openai: ({ openai }) => createOpenAi({ server: openai! }),
};

export function selectRecognizer(settings: RecognizerSettings): Recognizer {
  return makers[settings.recognizer](settings);
}
