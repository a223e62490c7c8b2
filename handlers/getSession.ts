import { sessionNotFound } from '../src/api/answers/problem.ts';
import { isFinal, pollAgainSeconds, toSession } from '../src/sessions/view.ts';
import type { Handler } from '../src/api/handler.ts';

/** GET /sessions/{id}. */
export const getSession: Handler<'getSession'> = async ({ path, principal }, { sessions }) => {
  const row = await sessions.find(principal.account_id, path.id.toLowerCase());
  if (row === undefined) throw sessionNotFound();
  const headers = isFinal(row.status) ? {} : { 'Retry-After': pollAgainSeconds };
  return { status: 200, headers, body: toSession(row) };
};
