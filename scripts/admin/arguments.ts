/** Reads what people type. Each function reads one argument, or says what to type instead. */
import { InvalidArgumentError } from 'commander';
import { durationExamples, parseDuration } from './durations.ts';
import type { Scope } from '../../db/schema.ts';

const maxTextLength = 200;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// Control characters, also the invisible ones that turn the direction of text.
const unprintable = /[\p{Cc}\p{Cs}\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/** @param listedBy the command that shows such ids */
function idListedBy(listedBy: string): (text: string) => string {
  return (text) => {
    const id = text.trim().toLowerCase();
    if (!uuid.test(id)) throw new InvalidArgumentError(`Type a whole id; ${listedBy} shows them.`);
    return id;
  };
}

export const isId = (text: string): boolean => uuid.test(text);

export const accountId = idListedBy('"accounts list"');
export const sessionId = idListedBy('"sessions list ACCOUNT"');

export function text(typed: string): string {
  const trimmed = typed.trim();
  const isGood = trimmed !== '' && [...trimmed].length <= maxTextLength && !unprintable.test(trimmed);
  if (isGood) return trimmed;
  throw new InvalidArgumentError(`Type 1 to ${maxTextLength} characters on one line.`);
}

/** A duration above zero, in ms. @param maxMs inclusive */
export function positiveDuration(maxMs = Infinity): (typed: string) => number {
  return (typed) => {
    const ms = parseDuration(typed);
    if (ms === undefined) throw new InvalidArgumentError(`Type ${durationExamples}.`);
    if (ms < 0) throw new InvalidArgumentError('Type a duration above zero.');
    if (ms > maxMs) throw new InvalidArgumentError(`Type at most ${Math.floor(maxMs / 3_600_000)}h.`);
    return ms;
  };
}

/** A duration that may be negative, in ms. */
export function signedDuration(typed: string): number {
  const ms = parseDuration(typed);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`Type ${durationExamples}, with - before it to take away.`);
}

export function wholeNumber(minimum: number, maximum: number): (typed: string) => number {
  return (typed) => {
    const value = Number(typed);
    if (/^\d+$/.test(typed) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`Type a whole number from ${minimum} to ${maximum}.`);
  };
}

/** Days, such as 90 or 90d. @returns null for `none` */
export const retentionDays = (typed: string): number | null =>
  typed === 'none' ? null : wholeNumber(1, 3_650)(typed.replace(/(?<=\d)d$/, ''));

/** Collects the scopes of a repeated option. */
export function scopes(typed: string, before: Scope[] = []): Scope[] {
  if (typed !== 'read' && typed !== 'write') throw new InvalidArgumentError('Type read or write.');
  return before.includes(typed) ? before : [...before, typed];
}
