/** How values go to PostgreSQL and come back. */
import pg from 'pg';

// Times stay text. A Date takes twice as much work for a list of sessions, and loses the microseconds that cursors
// need.
const asIs = (text: string) => text;
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, safeInteger],
  [pg.types.builtins.TIMESTAMPTZ, asIs],
  [pg.types.builtins.JSON, asIs],
]);
export const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  parsers.get(oid) ?? pg.types.getTypeParser(oid, format as 'text');

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond the safe integers`);
  return value;
}

/** `2026-11-20 09:30:00.12+00` as PostgreSQL prints it in UTC → `2026-11-20T09:30:00.12Z` (RFC 3339). */
export function rfc3339(time: string): string {
  return `${time.slice(0, 10)}T${time.slice(11, -3)}Z`;
}
