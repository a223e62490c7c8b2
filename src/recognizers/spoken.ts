import { totalMs, overlapping, without } from '../audio/spans.ts';
import { withPauses } from '../audio/chunks.ts';
import type { Span } from '../audio/chunks.ts';
import type { DecodedAudio } from './recognizer.ts';

type KnownSpeech = Pick<DecodedAudio, 'silences' | 'speech'>;

/** Where there is a voice in a stretch. Without a detector: wherever it is not silent. */
export function voiceIn({ silences, speech }: KnownSpeech, stretch: Span): Span[] {
  return speech === undefined ? without([stretch], overlapping(silences, stretch)) : overlapping(speech, stretch);
}

/** A shorter pause is within a phrase, or a word: before a `t`, for one. */
const pauseInPhraseMs = 300;

/**
 * As `voiceIn`, and without pauses of more than 0.3 s, which the detector passes over. A recording that is so quiet that its voices
 * count as silence keeps them.
 */
export function spokenIn(audio: KnownSpeech, stretch: Span): Span[] {
  const voice = voiceIn(audio, stretch);
  const spoken = without(voice, overlapping(audio.silences, stretch));
  return withPauses(totalMs(spoken) >= totalMs(voice) / 2 ? spoken : voice, pauseInPhraseMs);
}
