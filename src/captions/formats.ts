import { toLines, widthOf } from './lines.ts';
import type { Segment } from './segment.ts';

export type Caption = Pick<Segment, 'startMs' | 'endMs' | 'text' | 'speaker' | 'channel'>;

/**
 * A cue is shown for a second at least, and long enough to be read at 21 columns a second, or until the next
 * one begins. (WebVTT does not show one that ends when it starts.)
 */
const [shortestCueMs, columnsPerSecond] = [1_000, 21];

/**
 * Each format gives the pieces of its text, one for each caption: a whole day has too many to wait for all.
 * WebVTT (W3C, https://www.w3.org/TR/webvtt1/#file-structure), lines ending in LF, media type text/vtt.
 * Without captions, the header alone, which is a valid file.
 */
export function* webVtt(captions: Iterable<Caption>): Generator<string> {
  yield 'WEBVTT\n';
  for (const { startMs, endMs, text, ...caption } of visibleCues(captions)) {
    const name = voiceOf(caption);
    const voice = name === undefined ? '' : `<v ${escapeWebVtt(name)}>`;
    const lines = toLines(text).map(escapeWebVtt).join('\n');
    yield `\n${clock(startMs, '.')} --> ${clock(endMs, '.')}\n${voice}${lines}\n`;
  }
}

/** SubRip: numbered from 1, a comma before the ms, lines ending in CRLF as the old players it is for expect. */
export function* subRip(captions: Iterable<Caption>): Generator<string> {
  let number = 0;
  for (const caption of visibleCues(captions)) {
    const { startMs, endMs } = caption;
    number += 1;
    const times = `${clock(startMs, ',')} --> ${clock(endMs, ',')}`;
    const lines = toLines(spoken(caption)).map(escapeSubRip).join('\r\n');
    yield `${number === 1 ? '' : '\r\n'}${number}\r\n${times}\r\n${lines}\r\n`;
  }
}

/** One line per segment, each ending in LF. */
export function* plainText(captions: Iterable<Caption>): Generator<string> {
  for (const caption of withText(captions)) yield `${spoken(caption)}\n`;
}

/** Each with its text in one line, without those that have none. */
export function* withText(captions: Iterable<Caption>): Generator<Caption> {
  for (const caption of captions) {
    const text = oneLine(caption.text);
    // A cue without text would end its block, and players would read the rest of it as another block.
    if (text !== '') yield { ...caption, text };
  }
}

function* visibleCues(captions: Iterable<Caption>): Generator<Caption> {
  let last: Caption | undefined;
  for (let caption of withText(captions)) {
    if (last !== undefined && caption.startMs <= last.startMs) [last, caption] = inTurn(last, caption);
    if (last !== undefined) yield shownLongEnough(last, caption.startMs);
    last = caption;
  }
  if (last !== undefined) yield shownLongEnough(last, Infinity);
}

/** Two captions that begin together share their time: players would show the one on top of the other. */
function inTurn(first: Caption, second: Caption): [Caption, Caption] {
  const untilMs = Math.max(first.endMs, second.endMs, first.startMs + 2 * shortestCueMs);
  const changeMs = Math.round((first.startMs + untilMs) / 2);
  return [
    { ...first, endMs: changeMs },
    { ...second, startMs: changeMs, endMs: untilMs },
  ];
}

/** @param nextMs when the next caption begins */
function shownLongEnough(caption: Caption, nextMs: number): Caption {
  const { startMs, endMs, text } = caption;
  const wantedMs = Math.max(shortestCueMs, Math.ceil((widthOf(text) / columnsPerSecond) * 1000));
  return { ...caption, endMs: Math.max(endMs, startMs + Math.min(nextMs - startMs, wantedMs)) };
}

/**
 * A blank line ends a cue in both formats, so text becomes one line. Other control characters are removed. Spaces that
 * hold a text together stay: `Ça va ?`.
 */
export function oneLine(text: string): string {
  return text.replace(/(?:[^\S\u00a0\u202f]|[\p{Cc}\u2028\u2029])+/gu, ' ').trim();
}

/** https://www.w3.org/TR/webvtt1/#webvtt-cue-text-span; `>` is escaped so that `-->` can't stand in a cue. */
function escapeWebVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * SubRip has no escapes, and each player takes other characters for a tag or a position. They are replaced by
 * characters that look the same.
 */
function escapeSubRip(text: string): string {
  return text.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('{\\', '{ \\');
}

/** Who speaks, as captions show it: the speaker, or else the channel. */
export function voiceOf({ speaker, channel }: Pick<Caption, 'speaker' | 'channel'>): string | undefined {
  if (speaker !== undefined) return oneLine(speaker);
  return channel === undefined ? undefined : `Channel ${channel}`;
}

function spoken(caption: Caption): string {
  const voice = voiceOf(caption);
  return voice === undefined ? caption.text : `${voice}: ${caption.text}`;
}

/** `hh:mm:ss.mmm`; hours have two digits or as many as they need. */
export function clock(ms: number, beforeMs: '.' | ','): string {
  const digits = (value: number, length: number): string => String(Math.floor(value)).padStart(length, '0');
  const [hours, minutes, seconds] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60];
  return `${digits(hours, 2)}:${digits(minutes, 2)}:${digits(seconds, 2)}${beforeMs}${digits(ms % 1000, 3)}`;
}
