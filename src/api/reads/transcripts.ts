/**
 * Answers a transcript: finds the session in the cheapest of three ways, then makes JSON or captions of its segments.
 */
import { rfc3339 } from '../../../db/connection/values.ts';
import { findChosenSegments, findSegments } from '../../../db/sessions/transcripts.ts';
import { plainText, subRip, webVtt } from '../../captions/formats.ts';
import { markdown } from '../../captions/markdown.ts';
import { toSessionError, toWarnings } from '../../sessions/view.ts';
import { inSlices, joined } from '../../concurrency/slices.ts';
import { sessionNotFound } from '../answers/problem.ts';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import type { Schema } from '../../../codegen/operations.ts';
import type { PublicSession } from '../../../db/sessions/sessions.ts';
import type { SessionWithSegments } from '../../../db/sessions/transcripts.ts';
import type { TranscriptType } from '../answers/negotiation.ts';
import type { SessionReads } from './session-reads.ts';
import type { SessionWaits } from './waits.ts';
import type { Db } from '../../../db/connection/database.ts';

/** The session of a transcript, with its segments as JSON text if they were read with it. */
export type FoundSession = PublicSession & Partial<Pick<SessionWithSegments, 'segments'>>;

export interface WantedTranscript {
  accountId: string;
  /** The session's id, in lower case. */
  id: string;
  type: TranscriptType;
  /** Only for JSON. */
  withWords: boolean;
  /** The indexes of the segments that are wanted, where not all are. */
  only?: readonly number[] | undefined;
}

/**
 * @param waitSeconds how long to wait until the session is final
 * @param mayBeKnown whether the client may have the transcript already; then its segments are not read yet
 * @param held of the request: ends the waiting
 * @returns undefined when the account has no such session
 */
export function findSessionOf(
  { accountId, id, withWords }: WantedTranscript,
  { sessions, waits }: { sessions: SessionReads; waits: SessionWaits },
  { waitSeconds, mayBeKnown }: { waitSeconds: number; mayBeKnown: boolean },
  held: () => AbortSignal,
): Promise<FoundSession | undefined> {
  if (waitSeconds > 0) return waits.untilFinal(accountId, id, waitSeconds, held());
  // Segments with their words are read by a statement of their own.
  if (withWords || mayBeKnown) return sessions.find(accountId, id);
  return sessions.findWithSegments(accountId, id);
}

interface Reads {
  db: Db;
  transcriptBodies: TranscriptBodies;
}

/**
 * The text of an answer. Clients that ask for the same at the same time share what is read.
 *
 * @param tag the answer's ETag
 * @param held of the request: aborts when the answer was sent, or its client has left; only asked for with a long text
 * @throws {ApiError} 404 `session_not_found` when the session was deleted meanwhile
 */
export async function transcriptText(
  wanted: WantedTranscript,
  session: FoundSession,
  reads: Reads,
  tag: string,
  held: () => AbortSignal,
): Promise<string> {
  const make = () => (wanted.type === 'application/json' ? jsonOf : captionsOf)(wanted, session, reads);
  return isQuicklyMade(wanted, session)
    ? make()
    : reads.transcriptBodies.of(wanted.accountId, session.id, tag, make, held);
}

/** In characters of JSON: captions of so much are made in a few ms. */
const shortText = 32 * 1024;

/** Whether nothing has to be read any more, and not much to be made: JSON goes out as it is stored. */
function isQuicklyMade({ type, only }: WantedTranscript, { status, segments }: FoundSession): boolean {
  if (status !== 'completed') return true;
  if (typeof segments !== 'string' || only !== undefined) return false;
  return type === 'application/json' || segments.length < shortText;
}

/** The stored JSON text of the segments goes into the answer unchanged. */
async function jsonOf(wanted: WantedTranscript, session: FoundSession, reads: Reads): Promise<string> {
  const { id, status, duration_ms: durationMs, language } = session;
  const error = toSessionError(session);
  const warnings = toWarnings(session);
  const head = JSON.stringify({
    sessionId: id,
    status,
    ...(durationMs !== null && { durationMs }),
    ...(language !== null && { language }),
    ...(error !== undefined && { error }),
    ...(warnings !== undefined && { warnings }),
  });
  return `${head.slice(0, -1)},"segments":${await segmentsOf(wanted, session, reads)}}`;
}

async function captionsOf(wanted: WantedTranscript, session: FoundSession, reads: Reads): Promise<string> {
  const segments: Schema<'Segment'>[] = JSON.parse(await segmentsOf(wanted, session, reads));
  return inSlices(joined(formats[wanted.type as Exclude<TranscriptType, 'application/json'>](segments, session)));
}

const formats = {
  'text/vtt': webVtt,
  'application/x-subrip': subRip,
  'text/plain': plainText,
  'text/markdown': (segments: Schema<'Segment'>[], session: FoundSession) => markdown(headingOf(session), segments),
};

const headingOf = (session: FoundSession) => ({
  title: session.title,
  createdAt: rfc3339(session.created_at),
  durationMs: session.duration_ms ?? 0,
  warnings: toWarnings(session) ?? [],
});

/** The segments as JSON text. Segments that were read with the session belong to that moment. */
async function segmentsOf(
  { accountId, id, withWords, only }: WantedTranscript,
  { status, segments }: FoundSession,
  { db }: Reads,
): Promise<string> {
  if (status !== 'completed') return '[]';
  if (withWords || only !== undefined)
    return stillThere(await findChosenSegments(db, accountId, id, { withWords, only }));
  return segments ?? stillThere(await findSegments(db, accountId, id));
}

/** Also silence has a transcript. When there is none, the session was deleted after it was found. */
function stillThere<Stored>(stored: Stored | undefined): Stored {
  if (stored === undefined) throw sessionNotFound();
  return stored;
}

/**
 * A body may be many megabytes, and one with words takes a connection. So at most half of the pool is used, and half of
 * that by one account.
 */
const limits = { atOnce: 10, each: 5 };
/** In characters. It takes a while to send a longer body. */
const longFrom = 256 * 1024;

interface Shared {
  body: Promise<string>;
  /** Clients that wait for the body, or that it is being sent to. */
  readers: number;
}

/**
 * Makes bodies from stored transcripts and shares them. A client gets the same body as others when it is just being
 * made, or when it is long and still being sent to somebody. So a thousand clients that wake up together, or that read
 * a long transcript slowly, cost one reading and one copy in memory.
 */
export class TranscriptBodies {
  readonly #shared = new Map<string, Shared>();
  readonly #turns = new FairTurns(limits);

  /**
   * @param accountId the owner, who has just been found to own the session: bodies never cross accounts
   * @param tag the answer's ETag, which tells versions and formats apart
   * @param held of the request: aborts when the answer is out, or its client has left; asked for a long body only
   */
  async of(
    accountId: string,
    sessionId: string,
    tag: string,
    make: () => Promise<string>,
    held: () => AbortSignal,
  ): Promise<string> {
    const key = `${accountId}/${sessionId}/${tag}`;
    const shared = this.#shared.get(key) ?? { body: this.#turns.run(accountId, make), readers: 0 };
    this.#shared.set(key, shared);
    shared.readers += 1;
    const leave = () => {
      shared.readers -= 1;
      if (shared.readers === 0) this.#shared.delete(key);
    };
    try {
      const body = await shared.body;
      if (body.length < longFrom || held().aborted) leave();
      else held().addEventListener('abort', leave, { once: true });
      return body;
    } catch (error) {
      leave();
      throw error;
    }
  }
}
