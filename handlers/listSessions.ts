import { decodeCursor, encodeCursor } from '../src/api/reads/cursor.ts';
import { invalidRequest } from '../src/api/answers/problem.ts';
import { toSession } from '../src/sessions/view.ts';
import { toMicroseconds } from '../src/api/reads/time.ts';
import type { Handler } from '../src/api/handler.ts';

const maxTimeLength = 64;

/** GET /sessions. */
export const listSessions: Handler<'listSessions'> = async ({ query, principal }, { sessions }) => {
  const filter = {
    statuses: query.status,
    createdAfter: timeOf('createdAfter', query.createdAfter),
    createdBefore: timeOf('createdBefore', query.createdBefore),
  };
  const limit = query.limit!;
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, filter);

  // One row more than asked for shows whether there is a next page.
  const rows = await sessions.page({ accountId: principal.account_id, ...filter, limit: limit + 1, after });
  const items = rows.slice(0, limit).map(toSession);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return {
    status: 200,
    body:
      last === undefined
        ? { items }
        : { items, nextCursor: encodeCursor({ createdAt: last.createdAt, id: last.id }, filter) },
  };
};

function timeOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // The contract has no `maxLength` here: beside `format: date-time`, generated models break on it.
  if (text.length > maxTimeLength)
    throw invalidRequest({ in: 'query', name, message: `must NOT have more than ${maxTimeLength} characters` });
  const time = toMicroseconds(text);
  if (time === undefined)
    throw invalidRequest({ in: 'query', name, message: 'must be a time such as 2026-11-20T09:30:00Z' });
  return time;
}
