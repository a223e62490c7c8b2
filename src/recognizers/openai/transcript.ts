import { segmentsFromTexts, segmentsFromUtterances } from '../../captions/segments.ts';
import { laterBy } from '../in-pieces.ts';
import { joinPieces } from '../join.ts';
import { spokenIn } from '../spoken.ts';
import type { Piece, Span } from '../../audio/pieces.ts';
import type { SpokenWord } from '../../captions/segments.ts';
import type { DecodedAudio, Segment, Transcript } from '../recognizer.ts';
import type { Answer } from './server-answers.ts';

/** A piece, as far as it was heard, and what was answered. */
export interface AnsweredPiece {
  piece: Piece;
  answer: Answer;
}

/**
 * Joins what a server answered to the pieces of a recording.
 * @param heard in order of time; a speaker has one name in all of them
 */
export function toTranscript(heard: readonly AnsweredPiece[], audio: DecodedAudio): Transcript {
  const { durationMs } = audio;
  const spoken = withNumberedSpeakers(joinPieces(heard.map(inRecording)));
  const segments = withoutUntimedWords(segmentsFromUtterances(spoken, durationMs), heard, audio);
  const language = languageOf(heard);
  return { segments, ...(language !== undefined && { language }) };
}

const inRecording = ({ piece, answer }: AnsweredPiece) => ({
  piece,
  utterances: answer.utterances.map((words) =>
    words.map((word): SpokenWord => ({ ...word, ...laterBy(piece.heardFromMs, word) })),
  ),
});

/** Removes the words of pieces that have no times of words: they are texts of several words. */
function withoutUntimedWords(segments: readonly Segment[], heard: readonly AnsweredPiece[], audio: DecodedAudio) {
  const spoken = (stretch: Span) => spokenIn(audio, stretch);
  const untimed = heard.filter(({ answer: { timesOf } }) => timesOf === 'segments' || timesOf === 'text');
  let next = 0;
  // Both are in order, so each piece is looked at once: a day has thousands of each.
  const isUntimed = ({ startMs, endMs }: Segment) => {
    const middleMs = (startMs + endMs) / 2;
    while (next < untimed.length && untimed[next]!.piece.endMs < middleMs) next += 1;
    return next < untimed.length && untimed[next]!.piece.startMs <= middleMs;
  };
  return segments
    .flatMap((segment) => (isUntimed(segment) ? segmentsFromTexts([segment], audio.durationMs, spoken) : [segment]))
    .map((segment, index) => ({ ...segment, index }));
}

/** The language of most of the text. */
function languageOf(heard: readonly AnsweredPiece[]): string | undefined {
  const characters = new Map<string, number>();
  for (const { answer } of heard) {
    if (answer.language === undefined) continue;
    const length = answer.utterances.flat().reduce((sum, { text }) => sum + text.length, 0);
    characters.set(answer.language, (characters.get(answer.language) ?? 0) + length);
  }
  return [...characters].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** Calls the server's speakers `S1`, `S2`, …, in the order in which they first speak. */
function withNumberedSpeakers(utterances: readonly SpokenWord[][]): SpokenWord[][] {
  const names = [...new Set(utterances.flat().flatMap(({ speaker }) => speaker ?? []))];
  return utterances.map((words) =>
    words.map((word) =>
      word.speaker === undefined ? word : { ...word, speaker: `S${names.indexOf(word.speaker) + 1}` },
    ),
  );
}
