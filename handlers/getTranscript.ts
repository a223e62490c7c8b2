import { createHash } from 'node:crypto';
import { jsonText } from '../codegen/operations.ts';
import { matchesTag, preferredType, transcriptTypes, typeOfFormat } from '../src/api/answers/negotiation.ts';
import { ApiError, sessionNotFound } from '../src/api/answers/problem.ts';
import { searchText } from '../src/api/reads/search.ts';
import { findSessionOf, transcriptText } from '../src/api/reads/transcripts.ts';
import { isFinal, pollAgainSeconds, toSessionError } from '../src/sessions/view.ts';
import type { PublicSession } from '../db/sessions/sessions.ts';
import type { TranscriptType } from '../src/api/answers/negotiation.ts';
import type { Handler } from '../src/api/handler.ts';
import type { WantedTranscript } from '../src/api/reads/transcripts.ts';

/** GET /sessions/{id}/transcript. */
export const getTranscript: Handler<'getTranscript'> = async (input, ctx) => {
  const { path, query, headers, principal } = input;
  const type = query.format === undefined ? wantedType(headers.accept) : typeOfFormat[query.format];
  const q = searchText(query.q);
  const withWords = type === 'application/json' && query.include === 'words';
  const wanted = { accountId: principal.account_id, id: path.id.toLowerCase(), type, withWords };

  const known = headers['if-none-match'];
  const how = { waitSeconds: query.wait!, mayBeKnown: known !== undefined };
  const session = await findSessionOf(wanted, ctx, how, input.held);
  if (session === undefined) throw sessionNotFound();
  if (type !== 'application/json') refuseCaptionsUnlessCompleted(session);
  const isSearched = q !== undefined && session.status === 'completed';
  const only = isSearched ? await ctx.search.segments(wanted.accountId, wanted.id, q, input.held()) : undefined;

  const shared = {
    ETag: tagOf(session, wanted, only),
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding, Authorization',
    ...(!isFinal(session.status) && { 'Retry-After': pollAgainSeconds }),
  };
  if (matchesTag(known, shared.ETag)) return { status: 304, headers: shared };
  const text = await transcriptText({ ...wanted, only }, session, ctx, shared.ETag, input.held);
  return type === 'application/json'
    ? { status: 200, headers: shared, body: jsonText(text) }
    : { status: 200, headers: shared, contentType: type, body: text };
};

function wantedType(accept: string | undefined): TranscriptType {
  const type = preferredType(accept);
  if (type !== undefined) return type;
  throw new ApiError(
    406,
    'not_acceptable',
    `A transcript is offered as ${transcriptTypes.join(', ')}; "format=" says which, whatever "Accept" says.`,
  );
}

function refuseCaptionsUnlessCompleted({ status }: PublicSession): void {
  if (status === 'failed')
    throw new ApiError(409, 'transcription_failed', 'The transcription failed; there are no captions.');
  if (status !== 'completed') {
    throw new ApiError(409, 'transcript_not_ready', 'The session is still being transcribed.', {
      retryAfterSeconds: pollAgainSeconds,
    });
  }
}

/**
 * A weak tag (RFC 9110, section 8.8.1). For a completed transcript it is the stored hash, for others it is made of what
 * may change.
 */
function tagOf(
  session: PublicSession,
  { type, withWords }: WantedTranscript,
  only: readonly number[] | undefined,
): string {
  const { status, progress, error_code: code } = session;
  // A newer version of the service may say it in other words.
  const error = toSessionError(session);
  const changing = [status, progress, code, error && shortHash(error.message)];
  const version =
    session.transcript_version ?? changing.filter((part) => part !== null && part !== undefined).join('-');
  const part = only === undefined ? '' : `.${shortHash(only.join())}`;
  return `W/"${version}.${withWords ? 'words' : type.split('/')[1]}${part}"`;
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);
