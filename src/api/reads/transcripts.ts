/**
 * Answers a transcript: finds the session in the cheapest of three ways, then makes JSON or captions of its segments.
 */
import { rfc3339 } from '../../../db/connection/values.ts';
import { findChosenSegments } from '../../../db/sessions/transcripts.ts';
import { plainText, subRip, webVtt } from '../../captions/formats.ts';
import { markdown } from '../../captions/markdown.ts';
import { toSessionError } from '../../sessions/view.ts';
import { toWarnings } from '../../sessions/warnings.ts';
import { inSlices, joined } from '../../concurrency/slices.ts';
import { sessionNotFound } from '../answers/problem.ts';
import type { Schema } from '../../../codegen/operations.ts';
import type { ReadableSession } from '../../../db/sessions/readable.ts';
import type { SessionWithSegments } from '../../../db/sessions/transcripts.ts';
import type { TranscriptType } from '../answers/negotiation.ts';
import type { Context } from '../api-context.ts';

/** The session of a transcript, with its segments as JSON text if they were read with it. */
export type FoundSession = ReadableSession & Partial<Pick<SessionWithSegments, 'segments'>>;

/** Which part of a transcript, and in which form. */
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
 * @param reader.signal ends the waiting; it is only used when there is any
 * @returns undefined when the account has no such session
 */
export function findSessionOf(
  { accountId, id, withWords }: WantedTranscript,
  { sessions, waits }: Pick<Context, 'sessions' | 'waits'>,
  { waitSeconds, mayBeKnown }: { waitSeconds: number; mayBeKnown: boolean },
  reader: { readonly signal: AbortSignal },
): Promise<FoundSession | undefined> {
  if (waitSeconds > 0) return waits.untilFinal(accountId, id, waitSeconds, reader.signal);
  // Segments with their words are read by a statement of their own.
  if (withWords || mayBeKnown) return sessions.find(accountId, id);
  return sessions.findWithSegments(accountId, id);
}

type Reads = Pick<Context, 'db' | 'sessions' | 'transcriptBodies'>;

/**
 * The text of an answer. Clients that ask for the same at the same time share what is read.
 *
 * @param tag the answer's ETag
 * @param reader.signal aborts when the answer was sent, or its client has left; only used for a long text
 * @throws {ApiError} 404 `session_not_found` when the session was deleted meanwhile
 */
export async function transcriptText(
  wanted: WantedTranscript,
  session: FoundSession,
  reads: Reads,
  tag: string,
  reader: { readonly signal: AbortSignal },
): Promise<string> {
  const make = () => (wanted.type === 'application/json' ? jsonOf : captionsOf)(wanted, session, reads);
  return isQuicklyMade(wanted, session)
    ? make()
    : reads.transcriptBodies.of(wanted.accountId, session.id, tag, make, reader);
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
  { db, sessions }: Reads,
): Promise<string> {
  if (status !== 'completed') return '[]';
  if (withWords || only !== undefined)
    return stillThere(await findChosenSegments(db, accountId, id, { withWords, only }));
  return segments ?? stillThere(await sessions.segments(accountId, id));
}

/** Also silence has a transcript. When there is none, the session was deleted after it was found. */
function stillThere<Stored>(stored: Stored | undefined): Stored {
  if (stored === undefined) throw sessionNotFound();
  return stored;
}
