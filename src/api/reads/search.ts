import { countPassages, findPlaces, findSegmentsAt, findSessions, isTimedOut } from '../../../db/search/finding.ts';
import { findLanguages } from '../../../db/search/passages.ts';
import { findStems } from '../../../db/search/stems.ts';
import { filterValues } from '../../../db/sessions/filter.ts';
import { boundsOf } from '../../../db/sessions/pages.ts';
import { anyOf, toCondition, parseQuery } from '../../search/conditions.ts';
import { simple, stemmedOf } from '../../search/index-languages.ts';
import { bestOf, findMatches } from '../../search/matches.ts';
import { wordsOf } from '../../search/passages.ts';
import { gone } from '../connections/client-disconnected.ts';
import { ApiError, invalidRequest, unavailable } from '../answers/problem.ts';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import type { Schema } from '../../../codegen/operations.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { ListSessionsQuery } from '../../../db/sessions/pages.ts';
import type { PublicSession } from '../../../db/sessions/sessions.ts';
import type { Condition } from '../../search/conditions.ts';

/** Whoever reads something else always finds a connection. */
const limits = { atOnce: 4, each: 2 };
/** A word in fewer passages is looked up; their sessions are sorted in about 2 ms. */
const commonFrom = 1_000;
const matchesOfSession = 3;
/** Of a session's passages so many are looked through for the matches that are shown with it. */
const passagesOfSession = 10;
const allPassages = 2_147_483_647;

export class SessionSearch {
  readonly #db: Db;
  readonly #turns = new FairTurns(limits);

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Sessions whose title or transcript hold all that `q` asks for, newest first.
   *
   * @param held of the request. Once its client has left, no further statement begins
   * @throws {ApiError} 503 `unavailable` when it took too long
   */
  page(question: ListSessionsQuery, q: string, held: AbortSignal) {
    return this.#inTurn(question.accountId, held, async (signal) => {
      const conditions = await this.#conditionsOf(question.accountId, q);
      signal.throwIfAborted();
      const rows = await this.#find({ ...question, limit: question.limit + 1 }, conditions);
      signal.throwIfAborted();
      const shown = rows.slice(0, question.limit);
      const matches = await this.#matchesOf(question.accountId, shown, conditions);
      const sessions = shown.map((session) => ({ session, matches: matches.get(session.id) ?? [] }));
      return { sessions, hasMore: rows.length > shown.length };
    });
  }

  /** The segments of a transcript that hold a word or phrase of `q`, and none of what it excludes. */
  segments(accountId: string, sessionId: string, q: string, held: AbortSignal): Promise<number[]> {
    return this.#inTurn(accountId, held, async (signal) => {
      const conditions = await this.#conditionsOf(accountId, q);
      signal.throwIfAborted();
      const found = await this.#placesOf(accountId, [sessionId], conditions, allPassages);
      const matches = [...findMatches(conditions, found.get(sessionId) ?? [])];
      return matches.flatMap(([segment, met]) => ([...met].some(({ isExcluded }) => isExcluded) ? [] : [segment]));
    });
  }

  async #conditionsOf(accountId: string, q: string): Promise<Condition[]> {
    const clauses = parseQuery(q);
    if (clauses.length === 0) return [];
    const spoken = stemmedOf(await findLanguages(this.#db, accountId));
    const stems = await findStems(
      this.#db,
      spoken.map(({ dictionary }) => dictionary),
      [...wordsOf(clauses.flatMap(({ tokens }) => tokens))],
    );
    const languages = [
      { language: simple, stems: new Map<string, string>() },
      ...spoken.map((language, index) => ({ language, stems: stems[index]! })),
    ];
    return clauses.map((clause) => toCondition(accountId, clause, languages));
  }

  async #find(question: ListSessionsQuery, conditions: readonly Condition[]): Promise<PublicSession[]> {
    const wanted = conditions.filter(({ isExcluded }) => !isExcluded);
    // Nothing to look for is nothing to find.
    if (wanted.length === 0) return [];
    const words = wanted.map((condition) => condition.words);
    const counts = await countPassages(this.#db, words, commonFrom);
    if (counts.includes(0)) return [];
    const range = { ...boundsOf(question), ...filterValues(question), limit: question.limit };
    const rare = words.filter((_, index) => counts[index]! < commonFrom);
    if (rare.length === 0) {
      const newest = await findSessions(this.#db, range, conditions);
      if (newest.length === question.limit) return newest;
    }
    const lookedUp = rare.length === 0 ? words : rare;
    const others = conditions.filter(
      ({ isExcluded, isPhrase, words: own }) => isExcluded || isPhrase || !lookedUp.includes(own),
    );
    return findSessions(this.#db, range, others, lookedUp);
  }

  async #matchesOf(
    accountId: string,
    sessions: readonly PublicSession[],
    conditions: readonly Condition[],
  ): Promise<Map<string, Schema<'SearchMatch'>[]>> {
    const ids = sessions.filter(({ status }) => status === 'completed').map(({ id }) => id);
    const wanted = conditions.filter(({ isExcluded }) => !isExcluded);
    const places = await this.#placesOf(accountId, ids, wanted, passagesOfSession);
    const at = [...places].flatMap(([sessionId, passages]) =>
      bestOf(findMatches(wanted, passages), matchesOfSession).map((index) => ({ sessionId, index })),
    );
    const found = new Map<string, Schema<'SearchMatch'>[]>(at.map(({ sessionId }) => [sessionId, []]));
    if (at.length === 0) return found;
    const segments = await findSegmentsAt(this.#db, {
      accountId,
      sessionIds: at.map(({ sessionId }) => sessionId),
      indexes: at.map(({ index }) => index),
    });
    for (const { sessionId, index, members } of segments) found.get(sessionId)!.push(toMatch(index, members));
    return found;
  }

  async #placesOf(accountId: string, sessionIds: string[], conditions: readonly Condition[], most: number) {
    const wanted = conditions.filter(({ isExcluded }) => !isExcluded);
    if (sessionIds.length === 0 || wanted.length === 0) return new Map<string, never[]>();
    const terms = conditions.flatMap(({ ways }) => ways.flatMap((way) => way.flatMap((step) => step.terms)));
    const lexemesOf = (isBeginning: boolean) => [
      ...new Set(terms.filter((term) => term.isBeginning === isBeginning).map(({ lexeme }) => lexeme)),
    ];
    const query = anyOf(wanted.map((condition) => condition.query));
    const rows = await findPlaces(this.#db, {
      ...{ accountId, sessionIds, query, most },
      ...{ lexemes: lexemesOf(false), beginnings: lexemesOf(true) },
    });
    const passages = rows.map(({ session_id, first_segment, starts, words }) => ({
      ...{ sessionId: session_id, firstSegment: first_segment, starts, words },
    }));
    return Map.groupBy(passages, ({ sessionId }) => sessionId);
  }

  async #inTurn<Result>(
    accountId: string,
    held: AbortSignal,
    work: (left: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const left = new AbortController();
    // A server that stops ends what it has begun.
    const leave = () => (held.reason === gone || held.reason instanceof ApiError) && left.abort(held.reason);
    held.addEventListener('abort', leave, { once: true });
    try {
      return await this.#turns.run(accountId, () => work(left.signal), left.signal);
    } catch (error) {
      if (error === gone) throw unavailable('The client left while its search was under way.');
      if (!isTimedOut(error)) throw error;
      throw unavailable('The search took too long. Ask for less, for example of a shorter time.');
    } finally {
      held.removeEventListener('abort', leave);
    }
  }
}

function toMatch(segmentIndex: number, members: string): Schema<'SearchMatch'> {
  const { startMs, endMs, text } = JSON.parse(members) as Omit<Schema<'Segment'>, 'index'>;
  return { segmentIndex, startMs, endMs, text };
}

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
