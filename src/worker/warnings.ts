/** What the client is told about a recording beside its transcript. */
import { withPauses } from '../audio/pieces.ts';
import type { Warning } from '../../db/sessions/warning.ts';
import type { AudioWarning } from '../audio/decode.ts';
import type { Span } from '../audio/pieces.ts';

/** The contract has room for so many, and for the other warnings. */
const mostStretches = 50;

/**
 * @param audio of each channel, so some may come twice
 * @param uncertain stretches in any order. Where there are too many, near ones become one, so that none is kept back.
 */
export function warningsOf(audio: readonly AudioWarning[], uncertain: readonly Span[]): Warning[] {
  const inOrder = uncertain.toSorted((a, b) => a.startMs - b.startMs);
  let stretches = withPauses(inOrder, 0);
  for (let pauseMs = 1_000; stretches.length > mostStretches; pauseMs *= 2) stretches = withPauses(inOrder, pauseMs);
  return [
    ...[...new Set(audio)].map((code) => ({ code })),
    ...stretches.map((stretch) => ({ code: 'speech_uncertain' as const, ...stretch })),
  ];
}
