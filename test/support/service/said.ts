/** Sessions in which something was said, for search. */
import { toStoredTranscript } from '../../../src/worker/transcription.ts';
import { makeSession } from './sessions.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { StoredTranscript } from '../../../src/sessions/completion.ts';

/** A transcript of one segment for each text, a second apart. */
export function transcriptOf(texts: readonly string[], language?: string): StoredTranscript {
  const segments = texts.map((text, index) => ({
    ...{ index, startMs: index * 1_000, endMs: index * 1_000 + 900 },
    ...{ text, words: [] },
  }));
  return toStoredTranscript({ segments, language }, texts.length * 1_000);
}

/** A completed session. @returns its id */
export async function saySession(
  db: Db,
  accountId: string,
  texts: string | readonly string[],
  { title = 'Untitled', language, createdAt }: { title?: string; language?: string; createdAt?: string } = {},
): Promise<string> {
  const transcript = transcriptOf(typeof texts === 'string' ? [texts] : texts, language);
  const at = createdAt === undefined ? {} : { createdAt };
  return (await makeSession(db, accountId, { status: 'completed', title, transcript, ...at })).id;
}
