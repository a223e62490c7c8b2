/**
 * What the owner of a session may see of its row. A new column is one line in {@link readSession}; the rest of this
 * file follows from it.
 */
import type { Selectable } from 'kysely';
import type { FailureCode, SessionStatus, SessionTable } from '../schema.ts';

/** The values of a row as texts. Each is taken once, in order. An empty text means null. */
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

/**
 * Written out instead of a loop over the columns, because it runs for every session of every page. A page of 20 takes
 * 13 µs; with a loop it takes 21 µs.
 */
function readSession(next: Texts) {
  return {
    id: next.text(),
    status: next.text() as SessionStatus,
    title: next.text(),
    reference: next.textOrNull(),
    created_at: next.text(),
    started_at: next.textOrNull(),
    completed_at: next.textOrNull(),
    duration_ms: next.numberOrNull(),
    charged_ms: next.numberOrNull(),
    language: next.textOrNull(),
    progress: next.numberOrNull(),
    error_code: next.textOrNull() as FailureCode | null,
    known_languages: next.textOrNull(),
    transcript_version: next.textOrNull(),
    delete_at: next.textOrNull(),
    separate_channels: next.text() === 't',
    warnings: next.textOrNull(),
  } satisfies Partial<Selectable<SessionTable>>;
}

/** A session as its owner may see it. */
export type ReadableSession = ReturnType<typeof readSession>;

/** The columns of {@link readSession}, in its order. */
export const readable = Object.keys(readSession(new Texts([]))) as (keyof ReadableSession)[];

/** @param texts the values of {@link readable}, in its order; an empty text for null */
export function sessionOf(texts: readonly string[]): ReadableSession {
  if (texts.length !== readable.length) throw new Error('a session has other values than were asked for');
  return readSession(new Texts(texts));
}
