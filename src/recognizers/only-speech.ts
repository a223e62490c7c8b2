/** Recognizes only where somebody speaks: models write words into noise, applause and music. */
import type { DecodedAudio, Recognizer } from './recognizer.ts';
import type { VoiceDetector } from './sherpa-onnx/voice-detector.ts';

export function onlySpeech(recognizer: Recognizer, detector: VoiceDetector): Recognizer {
  return {
    ...recognizer,
    async check(...args) {
      await recognizer.check(...args);
      await detector.check();
    },
    async recognize(audio, options) {
      // A recording of several channels often has some that nobody used.
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
