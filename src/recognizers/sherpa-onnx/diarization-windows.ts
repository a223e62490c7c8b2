import type { Piece } from '../../audio/pieces.ts';
import type { WindowResult } from './messages.ts';

/** Somebody speaks. Times are ms from the start of the recording. */
export interface Turn {
  startMs: number;
  endMs: number;
  /** The same number for the same speaker, throughout the recording. */
  speaker: number;
}

/** Who was heard in a window of a recording. */
export interface HeardWindow {
  piece: Piece;
  result: WindowResult;
}

/** What a voice is like: a vector of length 1, except for a voice that can not be known. */
type Voice = Float32Array;
/**
 * The cosine similarity from which two voices are one. It may be stricter than the one within a window, since each voice
 * is known here by up to half a minute of speech.
 */
const sameSpeaker = 0.5;

type Speaker = WindowResult['speakers'][number];

/**
 * Finds the speakers of each window in the next windows, by their voices. The most similar voices are matched first, if
 * they are similar enough. Two speakers of one window stay two.
 * @param windows in order of time
 * @param mostSpeakers a voice beyond this number is taken for the most similar one that is known
 * @returns in order of time
 */
export function joinWindows(windows: readonly HeardWindow[], mostSpeakers = Infinity): Turn[] {
  /** For each speaker the sum of the voice's vectors, weighted by ms of speech. */
  const known: Voice[] = [];
  const turns = windows.flatMap(({ piece, result: { speakers } }) => {
    const voices = speakers.map(({ embedding }) => voiceOf(embedding));
    const numbers = recognize(voices, known.map(normalized));
    return speakers.flatMap((speaker, index) => {
      const own = numbers.get(index) ?? (known.length < mostSpeakers ? known.length : undefined);
      const number = own ?? mostSimilar(voices[index]!, known.map(normalized));
      // Of a voice that has to be somebody's nothing is learnt about that speaker.
      if (own !== undefined) known[own] = sum(known[own], voices[index]!, speechMs(speaker));
      return speaker.turns.map(([startMs, endMs]) => ({
        ...{ startMs: piece.heardFromMs + startMs, endMs: piece.heardFromMs + endMs },
        speaker: number,
      }));
    });
  });
  return turns.sort((a, b) => a.startMs - b.startMs);
}

/** @returns for each of `voices` its position in `known`; undefined for a voice that was never heard before */
function recognize(voices: readonly Voice[], known: readonly Voice[]): Map<number, number> {
  const pairs = voices.flatMap((voice, index) =>
    known.map((other, number) => ({ index, number, similarity: product(voice, other) })),
  );
  const alike = pairs.filter(({ similarity }) => similarity >= sameSpeaker);
  alike.sort((a, b) => b.similarity - a.similarity);
  const numbers = new Map<number, number>();
  const taken = new Set<number>();
  for (const { index, number } of alike) {
    if (numbers.has(index) || taken.has(number)) continue;
    numbers.set(index, number);
    taken.add(number);
  }
  return numbers;
}

const mostSimilar = (voice: Voice, known: readonly Voice[]) =>
  known.reduce((best, other, number) => (product(voice, other) > product(voice, known[best]!) ? number : best), 0);

function voiceOf(embedding: string): Voice {
  const bytes = Buffer.from(embedding, 'base64');
  const voice = Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  return normalized(voice);
}

function normalized(voice: Voice): Voice {
  const length = Math.sqrt(product(voice, voice));
  return voice.map((value) => value / length);
}

const product = (a: Voice, b: Voice) => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

const sum = (voice: Voice | undefined, other: Voice, weight: number): Voice =>
  other.map((value, index) => (voice?.[index] ?? 0) + value * weight);

const speechMs = ({ turns }: Speaker) => turns.reduce((ms, [startMs, endMs]) => ms + endMs - startMs, 0);
