import { invalidRequest } from '../answers/problem.ts';

/**
 * A `q` that is text. Bytes that are no UTF-8 have become U+FFFD where the query was parsed.
 *
 * @throws {ApiError} 400 `invalid_request`
 */
export function searchText<Text extends string | undefined>(q: Text): Text {
  if (q !== undefined && /\ufffd/.test(q.toWellFormed()))
    throw invalidRequest({ in: 'query', name: 'q', message: 'must be text: it holds bytes that are no UTF-8' });
  return q;
}
