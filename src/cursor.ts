/** The opaque cursor of the list: a position, and a checksum over it and the filters that it belongs to. */
import { hash } from 'node:crypto';
import { ApiError } from './problem.ts';
import { toMicroseconds } from './time.ts';
import type { SessionFilter, SessionPosition } from '../db/session-pages.ts';

const checksumBytes = 8;

export function encodeCursor(position: SessionPosition, filter: SessionFilter): string {
  const text = `${position.createdAt} ${position.id}`;
  return Buffer.concat([checksum(text, filter), Buffer.from(text)]).toString('base64url');
}

/**
 * @throws {ApiError} 400 `invalid_cursor` when it is damaged or was issued with other filters
 */
export function decodeCursor(cursor: string, filter: SessionFilter): SessionPosition {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(checksumBytes).toString();
  const [createdAt = '', id = '', ...rest] = text.split(' ');
  const isWhole =
    bytes.toString('base64url') === cursor &&
    bytes.subarray(0, checksumBytes).equals(checksum(text, filter)) &&
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

function checksum(text: string, { statuses = [], createdAfter, createdBefore }: SessionFilter): Buffer {
  const filters = JSON.stringify([[...new Set(statuses)].sort(), createdAfter, createdBefore]);
  return hash('sha256', `${text}\n${filters}`, 'buffer').subarray(0, checksumBytes);
}
