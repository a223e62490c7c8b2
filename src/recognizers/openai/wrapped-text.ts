/**
 * whisper.cpp's server wraps what was said at 60 characters, in the middle of words too. Each line is a segment, and the
 * text of its answer is the segments with a line break after each. Only a space at the beginning of a segment says that
 * a word begins there. (examples/server/server.cpp, `output_str`)
 */
import { hasUnspaced } from '../../captions/scripts.ts';

/** The parts of an answer that hold text. */
export interface WrittenParts {
  text: string | undefined;
  /** Each with its text; undefined where there are none. */
  segments: readonly Segment[] | undefined;
}

type Segment = Readonly<Record<string, unknown>>;

/** Puts words that were wrapped together again: in the text, and in the segment where they begin. */
export function unwrapped({ text, segments }: WrittenParts): WrittenParts {
  const lines = (segments ?? []).map((segment) => segment.text);
  const isWrapped = lines.length > 0 && lines.every((line) => typeof line === 'string');
  if (!isWrapped || text !== lines.map((line) => `${line}\n`).join('')) return { text, segments };
  const whole = lines.slice();
  for (let index = whole.length - 1; index > 0; index -= 1) {
    const rest = continuation(whole[index - 1]!, whole[index]!);
    whole[index - 1] += rest;
    whole[index] = whole[index]!.slice(rest.length);
  }
  return { text: lines.join(''), segments: segments!.map((segment, index) => ({ ...segment, text: whole[index]! })) };
}

/** What a line begins with that belongs to the last word of the line before it. */
function continuation(before: string, line: string): string {
  const rest = /^\S*/.exec(line)![0];
  const isWhole =
    rest === '' || before === '' || /\s$/.test(before) || hasUnspaced(rest[0]!) || hasUnspaced(before.at(-1)!);
  return isWhole ? '' : rest;
}
