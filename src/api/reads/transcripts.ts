/** Transcripts as they are answered: the session in the cheapest of three ways, then its segments as JSON or captions. */
import { findSegmentsWithWords } from '../../../db/sessions/transcripts.ts';
import { plainText, subRip, webVtt } from '../../captions/formats.ts';
import { toSessionError } from '../../sessions/view.ts';
import { sessionNotFound } from '../answers/problem.ts';
import { inSlices } from './slices.ts';
import type { Schema } from '../../../codegen/operations.ts';
import type { ReadableSession } from '../../../db/sessions/readable.ts';
import type { SessionWithSegments } from '../../../db/sessions/transcripts.ts';
import type { TranscriptType } from '../answers/negotiation.ts';
import type { Context } from '../context.ts';

/** The session of a transcript, with its segments as JSON text where they came along. */
export type FoundSession = ReadableSession & Partial<Pick<SessionWithSegments, 'segments'>>;

/** What of a transcript is asked for. */
export interface WantedTranscript {
  accountId: string;
  /** Of the session, in lower case. */
  id: string;
  type: TranscriptType;
  /** Only for JSON. */
  withWords: boolean;
}

/**
 * @param waitSeconds how long to wait until the session is final
 * @param mayBeKnown whether the client may have the transcript already: then its segments are not read yet
 * @param reader.signal ends the waiting; read only when there is some
 * @returns undefined when the account has no such session
 */
export function findSessionOf(
  { accountId, id, withWords }: WantedTranscript,
  { sessions, waits }: Pick<Context, 'sessions' | 'waits'>,
  { waitSeconds, mayBeKnown }: { waitSeconds: number; mayBeKnown: boolean },
  reader: { readonly signal: AbortSignal },
): Promise<FoundSession | undefined> {
  if (waitSeconds > 0) return waits.untilFinal(accountId, id, waitSeconds, reader.signal);
  // Segments with words are read by a statement of their own.
  if (withWords || mayBeKnown) return sessions.find(accountId, id);
  return sessions.findWithSegments(accountId, id);
}

type Reads = Pick<Context, 'db' | 'sessions' | 'transcriptBodies'>;

/**
 * The text of an answer. What has to be read for it is shared by all who ask for the same at the same time.
 *
 * @param tag the answer's ETag
 * @param reader.signal aborts when the answer is out, or its client has left; read for a long text only
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
  const isReadYet = session.status !== 'completed' || typeof session.segments === 'string';
  return isReadYet ? make() : reads.transcriptBodies.of(wanted.accountId, session.id, tag, make, reader);
}

/** The stored segments go into the answer as the JSON text that they are. */
async function jsonOf(wanted: WantedTranscript, session: FoundSession, reads: Reads): Promise<string> {
  const { id, status, duration_ms: durationMs, language, error_code: code } = session;
  const head = JSON.stringify({
    sessionId: id,
    status,
    ...(durationMs !== null && { durationMs }),
    ...(language !== null && { language }),
    ...(code !== null && { error: toSessionError(code) }),
  });
  return `${head.slice(0, -1)},"segments":${await segmentsOf(wanted, session, reads)}}`;
}

async function captionsOf(wanted: WantedTranscript, session: FoundSession, reads: Reads): Promise<string> {
  const segments: Schema<'Segment'>[] = JSON.parse(await segmentsOf(wanted, session, reads));
  return inSlices(formats[wanted.type as Exclude<TranscriptType, 'application/json'>](segments));
}

const formats = { 'text/vtt': webVtt, 'application/x-subrip': subRip, 'text/plain': plainText };

/** As JSON text. Those that came with the session are as old as it is. */
async function segmentsOf(
  { accountId, id, withWords }: WantedTranscript,
  { status, segments }: FoundSession,
  { db, sessions }: Reads,
): Promise<string> {
  if (status !== 'completed') return '[]';
  if (withWords) return stillThere(await findSegmentsWithWords(db, accountId, id));
  return segments ?? stillThere(await sessions.segments(accountId, id));
}

/** Silence is stored too: what is missing was deleted with its session, after that had been found. */
function stillThere<Stored>(stored: Stored | undefined): Stored {
  if (stored === undefined) throw sessionNotFound();
  return stored;
}
