import { findSegmentsAndWords } from '../db/sessions/transcripts.ts';
import { jsonText } from '../codegen/operations.ts';
import { toPlainText, toSubRip, toWebVtt } from '../src/captions/formats.ts';
import { matchesTag, preferredType, transcriptTypes } from '../src/api/answers/negotiation.ts';
import { ApiError, sessionNotFound } from '../src/api/answers/problem.ts';
import { isFinal, pollAgainSeconds, toSessionError } from '../src/sessions/view.ts';
import type { Schema } from '../codegen/operations.ts';
import type { Handler } from '../src/api/handler.ts';
import type { Queryable } from '../db/database.ts';
import type { ReadableSession } from '../db/sessions/sessions.ts';
import type { SessionWithSegments } from '../db/sessions/transcripts.ts';
import type { SessionReads } from '../src/api/reads/session-reads.ts';
import type { TranscriptType } from '../src/api/answers/negotiation.ts';

type Found = ReadableSession & Partial<Pick<SessionWithSegments, 'segments'>>;

/** GET /sessions/{id}/transcript (specification, section 4). */
export const getTranscript: Handler<'getTranscript'> = async (input, { db, sessions, waits, transcriptBodies }) => {
  const { path, query, headers, principal } = input;
  const type = preferredType(headers.accept);
  if (type === undefined) {
    throw new ApiError(406, 'not_acceptable', `A transcript is offered as ${transcriptTypes.join(', ')}.`);
  }

  const accountId = principal.account_id;
  const id = path.id.toLowerCase();
  const withWords = query.include === 'words';
  const mayNeedNone = headers['if-none-match'] !== undefined;
  let session: Found | undefined;
  if (query.wait! > 0) session = await waits.untilFinal(accountId, id, query.wait!, input.signal);
  else if (withWords || mayNeedNone) session = await sessions.find(accountId, id);
  else session = await sessions.findWithSegments(accountId, id);
  if (session === undefined) throw sessionNotFound();

  const shared = {
    ETag: tagOf(session, type, withWords),
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding, Authorization',
    ...(!isFinal(session.status) && { 'Retry-After': pollAgainSeconds }),
  };
  if (type !== 'application/json') refuseCaptionsUnlessCompleted(session);
  if (matchesTag(headers['if-none-match'], shared.ETag)) return { status: 304, headers: shared };
  const make =
    type === 'application/json'
      ? () => transcriptOf(db, sessions, accountId, session, withWords)
      : () => captionsOf(sessions, accountId, session, type);
  const mayBeLong = session.status === 'completed' && typeof session.segments !== 'string';
  const body = mayBeLong ? await transcriptBodies.of(accountId, session.id, shared.ETag, make, input) : await make();
  return type === 'application/json'
    ? { status: 200, headers: shared, body: jsonText(body) }
    : { status: 200, headers: shared, contentType: type, body };
};

async function captionsOf(
  sessions: SessionReads,
  accountId: string,
  session: Found,
  type: Exclude<TranscriptType, 'application/json'>,
): Promise<string> {
  const segments: Schema<'Segment'>[] = JSON.parse(await segmentsOf(sessions, accountId, session));
  return { 'text/vtt': toWebVtt, 'application/x-subrip': toSubRip, 'text/plain': toPlainText }[type](segments);
}

function refuseCaptionsUnlessCompleted({ status }: ReadableSession): void {
  if (status === 'failed')
    throw new ApiError(409, 'transcription_failed', 'The transcription failed; there are no captions.');
  if (status !== 'completed') {
    throw new ApiError(409, 'transcript_not_ready', 'The session is still being transcribed.', {
      retryAfterSeconds: pollAgainSeconds,
    });
  }
}

/** Weak (RFC 9110, section 8.8.1): a completed transcript is known by its stored hash, others by what can change of them. */
function tagOf(session: ReadableSession, type: TranscriptType, withWords: boolean): string {
  const { status, progress, error_code: error } = session;
  const version = session.transcript_version ?? [status, progress, error].filter((part) => part !== null).join('-');
  const format = withWords && type === 'application/json' ? 'words' : type.split('/')[1];
  return `W/"${version}.${format}"`;
}

/** Silence is stored too: what is missing was deleted with its session, after that had been found. */
function stillThere<Stored>(stored: Stored | undefined): Stored {
  if (stored === undefined) throw sessionNotFound();
  return stored;
}

/** The stored segments go into the answer as the JSON text that they are. */
async function transcriptOf(
  db: Queryable,
  sessions: SessionReads,
  accountId: string,
  session: Found,
  withWords: boolean,
): Promise<string> {
  const { id, status, duration_ms: durationMs, language, error_code: code } = session;
  const head = JSON.stringify({
    sessionId: id,
    status,
    ...(durationMs !== null && { durationMs }),
    ...(language !== null && { language }),
    ...(code !== null && { error: toSessionError(code) }),
  });
  return `${head.slice(0, -1)},"segments":${await segments()}}`;

  async function segments(): Promise<string> {
    if (status !== 'completed') return '[]';
    return withWords ? segmentsWithWords(db, accountId, id) : segmentsOf(sessions, accountId, session);
  }
}

/** As JSON text. Those that came with the session are as old as it is. */
async function segmentsOf(sessions: SessionReads, accountId: string, session: Found): Promise<string> {
  return session.segments ?? stillThere(await sessions.segments(accountId, session.id));
}

async function segmentsWithWords(db: Queryable, accountId: string, id: string): Promise<string> {
  const stored = stillThere(await findSegmentsAndWords(db, accountId, id));
  const words: Schema<'Word'>[][] = JSON.parse(stored.words);
  const segments: Schema<'Segment'>[] = JSON.parse(stored.segments);
  return JSON.stringify(segments.map((segment, index) => ({ ...segment, words: words[index] ?? [] })));
}
