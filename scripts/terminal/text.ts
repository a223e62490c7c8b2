import { relative } from 'node:path';

/** The first character of the scripts, symbols and emoji of which many are two columns wide. */
const firstWide = 0x1100;
/** Blocks and lines, in which bars are drawn, are one column wide. */
const isDrawing = (code: number) => code >= 0x2010 && code <= 0x25ff;

/** Cuts a line, so that a terminal does not wrap it. Where the width of a character is not clear, it counts as two columns. */
export function cutToWidth(line: string, columns: number): string {
  let width = 0;
  let kept = '';
  for (const character of line) {
    const code = character.codePointAt(0)!;
    width += code < firstWide || isDrawing(code) ? 1 : 2;
    if (width > columns) return kept;
    kept += character;
  }
  return kept;
}

/** A text of others, such as a file's name, on one line and without characters that control the terminal. */
export const onOneLine = (text: string): string =>
  text.toWellFormed().replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '�');

/** A path as a person in the folder `here` would type it. */
export function shown(path: string, here = ''): string {
  const within = relative(here, path);
  return onOneLine(within.startsWith('..') ? path : within);
}

/** A word of a shell command; quoted only where it must be, so that it stays readable. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

const units = ['B', 'kB', 'MB', 'GB'];

/** Bytes as people read them: `93.4 kB`. */
export function readableSize(bytes: number): string {
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const value = bytes / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

/** Milliseconds as people read them: `7.1 s`, `4 min 32 s`. */
export function readableDuration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The innermost cause, in a few words. An error about several addresses has no message of its own. */
export function briefly(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const below: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return below === undefined ? error.message || error.name : briefly(below);
}
