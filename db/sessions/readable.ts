/** What the owner of a session may see of its row. A new column is one line in {@link readSession}; all else follows. */
import type { Selectable } from 'kysely';
import type { FailureCode, SessionStatus, SessionTable } from '../schema.ts';

/** The values of a row as texts, each to be taken once and in order. An empty one stands for null. */
class Texts {
  readonly #texts: readonly string[];
  #taken = 0;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  text(): string {
    return this.#texts[this.#taken++]!;
  }

  textOrNull(): string | null {
    return this.text() || null;
  }

  numberOrNull(): number | null {
    const text = this.text();
    return text === '' ? null : Number(text);
  }
}

/** Written out, since it is made for every session of every page: for a page of 20, a loop over the columns takes 21 µs instead of 13. */
function readSession(next: Texts) {
  return {
    id: next.text(),
    status: next.text() as SessionStatus,
    title: next.text(),
    created_at: next.text(),
    started_at: next.textOrNull(),
    completed_at: next.textOrNull(),
    duration_ms: next.numberOrNull(),
    language: next.textOrNull(),
    progress: next.numberOrNull(),
    error_code: next.textOrNull() as FailureCode | null,
    transcript_version: next.textOrNull(),
  } satisfies Partial<Selectable<SessionTable>>;
}

/** A session as its owner may see it. */
export type ReadableSession = ReturnType<typeof readSession>;

/** Its columns, in the order in which {@link sessionOf} takes them. */
export const readable = Object.keys(readSession(new Texts([]))) as (keyof ReadableSession)[];

/** @param texts the values of {@link readable}, in its order, with nothing for null */
export function sessionOf(texts: readonly string[]): ReadableSession {
  if (texts.length !== readable.length) throw new Error('a session has other values than were asked for');
  return readSession(new Texts(texts));
}
