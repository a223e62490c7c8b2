/** The opaque cursor of the list: a position, and a checksum over the position and the filters of the list. */
import { crc32 } from 'node:zlib';
import { ApiError } from '../answers/problem.ts';
import { toMicroseconds } from './time.ts';
import type { SessionFilter } from '../../../db/sessions/filter.ts';
import type { SessionPosition } from '../../../db/sessions/pages.ts';

/** What a list was asked for, besides its page. */
export type ListFilter = SessionFilter & { q?: string | undefined };

const checksumLength = 8;

export function encodeCursor(position: SessionPosition, filter: ListFilter): string {
  const text = `${position.createdAt} ${position.id}`;
  return Buffer.from(checksum(text, filter) + text).toString('base64url');
}

/** @throws {ApiError} 400 `invalid_cursor` when it is damaged, or belongs to a list with other filters */
export function decodeCursor(cursor: string, filter: ListFilter): SessionPosition {
  const bytes = Buffer.from(cursor, 'base64url');
  const whole = bytes.toString();
  const text = whole.slice(checksumLength);
  const [createdAt = '', id = '', ...rest] = text.split(' ');
  const isWhole =
    bytes.toString('base64url') === cursor &&
    whole.slice(0, checksumLength) === checksum(text, filter) &&
    rest.length === 0 &&
    toMicroseconds(createdAt) !== undefined &&
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
  if (!isWhole) {
    const message = 'is damaged, or belongs to a list with other filters';
    throw new ApiError(400, 'invalid_cursor', `The cursor ${message}.`, {
      errors: [{ in: 'query', name: 'cursor', message }],
    });
  }
  return { createdAt: toMicroseconds(createdAt)!, id };
}

/** Eight hexadecimal digits. */
function checksum(text: string, filter: ListFilter): string {
  const { statuses = [], createdAfter, createdBefore, q, reference, language, ...forgotten } = filter;
  forgotten satisfies Record<string, never>;
  // What came later is only there when it is asked for, and the newest is the last: so a cursor outlives the next version.
  const later = [q, reference, language];
  while (later.length > 0 && later.at(-1) === undefined) later.pop();
  const filters = JSON.stringify([[...new Set(statuses)].sort(), createdAfter, createdBefore, ...later]);
  return crc32(`${text}\n${filters}`).toString(16).padStart(checksumLength, '0');
}
