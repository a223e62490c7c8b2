/** Recognizes only where somebody speaks: models like Whisper write words into noise and music. */
import type { Recognizer } from './recognizer.ts';
import type { VoiceDetector } from './sherpa-onnx/voice-detector.ts';

/** @param recognizer is told where somebody speaks as soon as the detector is installed */
export function onlySpeech(recognizer: Recognizer, detector: VoiceDetector): Recognizer {
  return {
    ...recognizer,
    async check(...args) {
      await recognizer.check(...args);
      await detector.check();
    },
    async recognize(audio, options) {
      const findSpeech = await detector.load();
      if (findSpeech === undefined) return recognizer.recognize(audio, options);
      const speech = await findSpeech(audio, options.signal);
      return recognizer.recognize({ ...audio, speech }, options);
    },
    async close() {
      await Promise.all([recognizer.close(), detector.close()]);
    },
  };
}
