import { folderOfKnown } from './sherpa-onnx/known-models.ts';
import { createVoiceDetector } from './sherpa-onnx/voice-detector.ts';
import type { RecognizerName } from './names.ts';
import type { SpeechServer } from './openai/exchange.ts';
import type { DecodedAudio, Recognizer } from './recognizer.ts';
import type { ChosenModel } from './sherpa-onnx/known-models.ts';
import type { VoiceDetector } from './sherpa-onnx/voice-detector.ts';

export interface RecognizerSettings {
  recognizer: RecognizerName;
  /** Downloaded models are below it. */
  dataDir: string;
  /** What a recording is in whose upload says no language (BCP 47). Undefined: the recognizer finds out, if it can. */
  recognizerLanguage: string | undefined;
  /** Only for `sherpa-onnx`. */
  sherpaOnnxModel: ChosenModel;
  /** How long a process of `sherpa-onnx` keeps its model in memory while it has nothing to do. */
  recognizerIdleMinutes: number;
  diarizationThreshold: number;
  /** Only for `openai`. */
  openai: SpeechServer | undefined;
  openAiMaxRequests: number;
}

/** Only the chosen recognizer is loaded. */
const makers: Record<RecognizerName, (settings: RecognizerSettings) => Promise<Recognizer>> = {
  'sherpa-onnx': async ({ sherpaOnnxModel, dataDir, diarizationThreshold: threshold, ...settings }) => {
    const { createSherpaOnnx } = await import('./sherpa-onnx/sherpa-onnx.ts');
    const diarization = { folder: folderOfKnown(dataDir, 'diarization'), threshold };
    const idleMs = settings.recognizerIdleMinutes * 60_000;
    return createSherpaOnnx({ ...sherpaOnnxModel, language: settings.recognizerLanguage, diarization, idleMs });
  },
  // The configuration makes sure that there is a server when this is the recognizer.
  openai: async ({ openai, openAiMaxRequests: mostRequests }) =>
    (await import('./openai/openai.ts')).createOpenAi({ server: openai!, mostRequests }),
};

export async function selectRecognizer(settings: RecognizerSettings): Promise<Recognizer> {
  const { recognizer, dataDir, recognizerIdleMinutes } = settings;
  const detector = createVoiceDetector({
    folder: folderOfKnown(dataDir, 'vad'),
    idleMs: recognizerIdleMinutes * 60_000,
  });
  return onlySpeech(await makers[recognizer](settings), detector);
}

/** The same, without voice detection. */
export const selectListener = (settings: RecognizerSettings): Promise<Recognizer> =>
  makers[settings.recognizer](settings);

/** Recognizes only speech: models write words into noise, applause and music. */
export function onlySpeech(recognizer: Recognizer, detector: VoiceDetector): Recognizer {
  return {
    ...recognizer,
    async check(...args) {
      await recognizer.check(...args);
      await detector.check();
    },
    async recognize(audio, options) {
      // Recordings of several channels often have unused ones.
      const speech = isSilent(audio) ? [] : await detector.findSpeech(audio, options.signal);
      return recognizer.recognize({ ...audio, speech }, options);
    },
    async close() {
      await Promise.all([recognizer.close(), detector.close()]);
    },
  };
}

/** One silence is as long as the recording. */
const isSilent = ({ durationMs, silences: [first] }: DecodedAudio): boolean =>
  first !== undefined && first.endMs - first.startMs === durationMs;
