/** What a recognizer missed in a piece: where there is a voice and no word, and where the same words come on and on. */
import { totalMs, within, without } from '../audio/spans.ts';
import { loopingOf } from './loops.ts';
import type { Piece, Span } from '../audio/pieces.ts';
import type { Word } from '../captions/segment.ts';
import type { DecodedAudio } from './recognizer.ts';

/** In so much of a voice there is a word, unless somebody sings or only laughs. */
const leastVoiceMs = 1_000;
/** A voice that is so near to a word belongs to it: times of words are off, and a voice lasts longer than its words. */
const ofWordMs = 500;
/**
 * Whisper skips a speech of 8 s, and stretches the sentence after it over that time. So of this much of a voice, under a
 * text that takes less time to say, there is more to hear.
 */
const leastUnsaidMs = 2_000;
/** Slow speech takes so long for a letter; for a digit, and a letter of a script that writes syllables, several times. */
const [letterMs, syllableMs] = [150, 600];
const syllable = /[\p{N}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
/** What is so near to a voice is heard again, too. */
const nearMs = 500;

export interface Missed extends Span {
  why: 'no words' | 'few words' | 'a loop';
}

/**
 * @param said words or longer texts, in any order; a text without times of its own has those of the piece
 * @param mayLoop whether the recognizer may say the same words on and on
 * @returns in order, none touching another
 */
export function missedIn(piece: Piece, said: readonly Word[], { speech }: DecodedAudio, mayLoop: boolean): Missed[] {
  const inOrder = [...said].sort((one, other) => one.startMs - other.startMs);
  const looping = mayLoop ? loopingOf(inOrder) : [];
  const thin = inOrder.filter((word) => isThin(word, speech));
  const good = inOrder.filter((word) => !looping.includes(word) && !thin.includes(word));
  return without([{ startMs: piece.startMs, endMs: piece.endMs }], good).flatMap((gap): Missed[] => {
    if (looping.some((word) => overlaps(word, gap))) return [{ ...gap, why: 'a loop' }];
    if (thin.some((word) => overlaps(word, gap))) return [{ ...gap, why: 'few words' }];
    const farFromWords = {
      startMs: gap.startMs + (gap.startMs > piece.startMs ? ofWordMs : 0),
      endMs: gap.endMs - (gap.endMs < piece.endMs ? ofWordMs : 0),
    };
    const voices = within(speech ?? [], farFromWords);
    return totalMs(voices) < leastVoiceMs ? [] : [{ ...around(voices, gap), why: 'no words' }];
  });
}

/** How long it takes to say a text slowly. */
export function slowlyMs(text: string): number {
  const syllables = text.match(syllable)?.length ?? 0;
  const all = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return syllables * syllableMs + (all - syllables) * letterMs;
}

const isThin = (word: Word, speech: readonly Span[] = []) =>
  totalMs(within(speech, word)) - slowlyMs(word.text) >= leastUnsaidMs;

const overlaps = (one: Span, other: Span) => one.startMs < other.endMs && one.endMs > other.startMs;

const around = (voices: readonly Span[], gap: Span): Span => ({
  startMs: Math.max(gap.startMs, voices[0]!.startMs - nearMs),
  endMs: Math.min(gap.endMs, voices.at(-1)!.endMs + nearMs),
});
