import { decodeCursor, encodeCursor } from '../src/api/reads/cursor.ts';
import { invalidRequest } from '../src/api/answers/problem.ts';
import { canonicalTag, primaryOf } from '../src/languages/tags.ts';
import { searchText } from '../src/api/reads/search.ts';
import { toSession } from '../src/sessions/view.ts';
import { toMicroseconds } from '../src/api/reads/time.ts';
import type { Schema } from '../codegen/operations.ts';
import type { ListSessionsQuery } from '../db/sessions/pages.ts';
import type { ListFilter } from '../src/api/reads/cursor.ts';
import type { Context, Handler } from '../src/api/handler.ts';

/** GET /sessions. */
export const listSessions: Handler<'listSessions'> = async (input, ctx) => {
  const { query, principal } = input;
  const filter = {
    statuses: query.status,
    createdAfter: timeOf('createdAfter', query.createdAfter),
    createdBefore: timeOf('createdBefore', query.createdBefore),
    q: searchText(query.q),
    reference: query.reference,
    language: query.language && primaryOf(canonicalTag(query.language)!),
  } satisfies Record<keyof ListFilter, unknown>;
  const limit = query.limit!;
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, filter);

  const { q, ...filters } = filter;
  const question = { accountId: principal.account_id, ...filters, limit, after };
  const { items, hasMore } =
    q === undefined ? await pageOf(question, ctx) : await searchFor(q, question, ctx, input.held);
  const last = hasMore ? items.at(-1) : undefined;
  return {
    status: 200,
    body:
      last === undefined
        ? { items }
        : { items, nextCursor: encodeCursor({ createdAt: last.createdAt, id: last.id }, filter) },
  };
};

interface Page {
  items: Schema<'Session'>[];
  hasMore: boolean;
}

async function pageOf(question: ListSessionsQuery, { sessions }: Context): Promise<Page> {
  // One more than asked for tells whether there is a next page.
  const rows = await sessions.page({ ...question, limit: question.limit + 1 });
  return { items: rows.slice(0, question.limit).map(toSession), hasMore: rows.length > question.limit };
}

async function searchFor(
  q: string,
  question: ListSessionsQuery,
  { search }: Context,
  held: () => AbortSignal,
): Promise<Page> {
  const { sessions, hasMore } = await search.page(question, q, held());
  return { items: sessions.map(({ session, matches }) => ({ ...toSession(session), matches })), hasMore };
}

function timeOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = toMicroseconds(text);
  if (time === undefined)
    throw invalidRequest({
      in: 'query',
      name,
      message: 'must be a time such as 2026-11-20T09:30:00Z; a + is written %2B',
    });
  return time;
}
