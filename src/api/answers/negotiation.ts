/**
 * Which form of a transcript a client wants (RFC 9110, section 12.5.1), and whether the client has it already (13.1.2).
 */

import type { Schema } from '../../../codegen/operations.ts';

export const typeOfFormat = {
  json: 'application/json',
  vtt: 'text/vtt',
  srt: 'application/x-subrip',
  txt: 'text/plain',
  md: 'text/markdown',
} as const satisfies Record<Schema<'TranscriptFormat'>, string>;
export type TranscriptType = (typeof typeOfFormat)[keyof typeof typeOfFormat];
/** Of two that a client rates alike, the first is taken. */
export const transcriptTypes = Object.values(typeOfFormat);

/**
 * The media type that the client rates best. JSON when `Accept` is missing or rates JSON as high as any other, because
 * generated clients list all types of the contract.
 * @returns undefined when no type is acceptable
 */
export function preferredType(accept: string | undefined): TranscriptType | undefined {
  if (accept === undefined || accept.trim() === '') return 'application/json';
  const ranges = accept.split(',').map(parseRange);
  let best: { type: TranscriptType; quality: number } | undefined;
  for (const type of transcriptTypes) {
    const quality = qualityOf(type, ranges);
    if (quality > (best?.quality ?? 0)) best = { type, quality };
  }
  return best?.type;
}

function parseRange(text: string) {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const quality = q === undefined ? 1 : Number(q);
  return { range, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

/** The most specific range decides. */
function qualityOf(type: TranscriptType, ranges: ReturnType<typeof parseRange>[]): number {
  for (const range of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const matching = ranges.filter((candidate) => candidate.range === range);
    if (matching.length > 0) return Math.max(...matching.map(({ quality }) => quality));
  }
  return 0;
}

/** Whether `If-None-Match` names this tag, by the weak comparison. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => opaque(candidate.trim()) === opaque(tag));
}

const opaque = (tag: string) => tag.replace(/^W\//, '');
