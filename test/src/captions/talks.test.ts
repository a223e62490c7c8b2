/** A minute of a reading (Dickens, Austen) and one of two meetings, as real recognizers heard them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endsSentence } from '../../../src/captions/breaths.ts';
import { webVtt } from '../../../src/captions/formats.ts';
import { joinWords, toLines, widthOf } from '../../../src/captions/lines.ts';
import { segmentsFromTexts, segmentsFromUtterances } from '../../../src/captions/segments.ts';
import { withPunctuation } from '../../../src/recognizers/openai/punctuation.ts';
import { spokenIn } from '../../../src/recognizers/spoken.ts';
import type { SpokenWord } from '../../../src/captions/segment.ts';
import type { Segment } from '../../../src/captions/segment.ts';

type Timed = [startMs: number, endMs: number, text: string];
interface Talk {
  durationMs: number;
  /** What Whisper base in faster-whisper answers: a text, and the time of each word. */
  text: string;
  words: Timed[];
  /** What Moonshine tiny answers: a text for each piece. */
  pieces: Timed[];
  silences: [number, number][];
  speech: [number, number][];
}

const talks = { reading: await read('reading'), meeting: await read('meeting') };

async function read(name: string): Promise<Talk> {
  return JSON.parse(await readFile(join(import.meta.dirname, 'talks', `${name}.json`), 'utf8')) as Talk;
}

const said = (timed: readonly Timed[]) => timed.map(([startMs, endMs, text]) => ({ startMs, endMs, text }));
const spans = (pairs: readonly [number, number][]) => pairs.map(([startMs, endMs]) => ({ startMs, endMs }));

const byWhisper = ({ text, words, durationMs }: Talk) =>
  segmentsFromUtterances([withPunctuation(said(words), text)!], durationMs);
const byMoonshine = ({ pieces, silences, speech, durationMs }: Talk) =>
  segmentsFromTexts(said(pieces), durationMs, (stretch) =>
    spokenIn({ silences: spans(silences), speech: spans(speech) }, stretch),
  );

describe.each([
  ['reading', 'whisper', byWhisper],
  ['reading', 'moonshine', byMoonshine],
  ['meeting', 'whisper', byWhisper],
  ['meeting', 'moonshine', byMoonshine],
] as const)('%s by %s', (name, model, heardBy) => {
  const talk = talks[name];
  const segments = heardBy(talk);

  test('captions → can be read', () => {
    expect(faultsOf(segments)).toEqual([]);
    expect(segments.filter(({ text }) => !fitsOnScreen(text))).toEqual([]);
  });

  test('captions → in order, within the recording, and no word of it lost', () => {
    const times = segments.flatMap(({ startMs, endMs }) => [startMs, endMs]);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect([times[0]! >= 0, times.at(-1)! <= talk.durationMs]).toEqual([true, true]);
    const heard = model === 'whisper' ? talk.text : talk.pieces.map(([, , text]) => text).join(' ');
    expect(segments.map(({ text }) => text).join(' ')).toBe(heard.trim().replace(/\s+/g, ' '));
  });
});

test('captions of any part of a talk, said more slowly and more quickly → can be read', () => {
  const faults = Object.values(talks).flatMap(({ words, text }) => {
    const whole = withPunctuation(said(words), text)!;
    return whole.flatMap((_, from) =>
      [0.7, 1, 1.4].flatMap((speed) =>
        faultsOf(segmentsFromUtterances([atSpeed(speed, whole.slice(from, from + 50))], 600_000)),
      ),
    );
  });
  expect(faults).toEqual([]);
});

const atSpeed = (speed: number, words: readonly SpokenWord[]): SpokenWord[] =>
  words.map((word) => ({ ...word, startMs: word.startMs / speed, endMs: word.endMs / speed }));

/** Two captions with a shorter pause between them can be one, if it has room for both. */
const longestPauseMs = 1_500;
const [mostWords, longestMs, shortestMs, columnsPerSecond] = [20, 7_000, 1_000, 21];

/** What is wrong with captions, each with its text. */
function faultsOf(segments: readonly Segment[]): string[] {
  const cues = [...webVtt(segments)].slice(1).map(shownFor);
  return segments.flatMap((segment, index) => {
    const [before, after] = [segments[index - 1], segments[index + 1]];
    const words = wordsOf(segment);
    const isTiny = words.length === 1 || segment.endMs - segment.startMs < shortestMs;
    const { startMs, endMs } = cues[index]!;
    const nextMs = cues[index + 1]?.startMs ?? Infinity;
    const isQuick = (widthOf(segment.text) * 1_000) / (endMs - startMs) > columnsPerSecond;
    const isRest = before !== undefined && !endsSentence(wordsOf(before).at(-1)!, words[0]!);
    const faults = {
      'has no length': endMs <= startMs,
      'is tiny beside one with room': isTiny && (fitTogether(before, segment) || fitTogether(segment, after)),
      'is gone too quickly': isQuick && endMs < nextMs,
      'begins with the last word of a sentence': isRest && endsSentence(words[0]!, words[1] ?? ''),
    };
    return Object.entries(faults).flatMap(([fault, isSo]) => (isSo ? [`${fault}: ${segment.text}`] : []));
  });
}

/** In two lines of 42 columns. */
const fitsOnScreen = (text: string) => toLines(text).length <= 2 && toLines(text).every((line) => widthOf(line) <= 42);

const wordsOf = ({ text }: Segment) => text.split(' ');

function fitTogether(first: Segment | undefined, second: Segment | undefined): boolean {
  if (first === undefined || second === undefined || second.startMs - first.endMs >= longestPauseMs) return false;
  return (
    wordsOf(first).length + wordsOf(second).length <= mostWords &&
    second.endMs - first.startMs <= longestMs &&
    fitsOnScreen(joinWords([first, second]))
  );
}

function shownFor(cue: string): { startMs: number; endMs: number } {
  const [startMs, endMs] = [...cue.matchAll(/(\d+):(\d+):(\d+)\.(\d+)/g)].map(
    ([, hours, minutes, seconds, ms]) =>
      ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000 + Number(ms),
  );
  return { startMs: startMs!, endMs: endMs! };
}
