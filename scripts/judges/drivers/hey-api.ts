/** What a client by hey-api does in the main job. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { createClient } from './generated/client/index.js';
import { createTranscription, getSession, getTranscript, listSessions } from './generated/index.js';
import type { Transcript } from './generated/index.js';

const { API_URL: baseUrl = '', API_KEY: key = '', AUDIO: audio = '', RUN_ID: runId = '' } = process.env;
const client = createClient({ baseUrl, auth: key });

async function upload(durationMs?: number) {
  const file = new File([await openAsBlob(audio)], basename(audio));
  return createTranscription({
    client,
    headers: { 'Idempotency-Key': runId },
    body: { file, ...(durationMs !== undefined && { durationMs }) },
  });
}

async function finalTranscript(id: string): Promise<Transcript> {
  for (;;) {
    const query = { wait: 30, include: 'words' as const };
    const { data, error } = await getTranscript({ client, path: { id }, query });
    // Captions are strings, and the type includes them.
    if (data === undefined || typeof data === 'string') throw new Error(error?.code ?? 'captions instead of JSON');
    if (data.status === 'completed' || data.status === 'failed') return data;
  }
}

const accepted = await upload();
if (accepted.data === undefined) throw new Error(accepted.error.detail);
const transcript = await finalTranscript(accepted.data.sessionId);
const list = await listSessions({ client, query: { limit: 5, status: ['completed', 'failed'] } });
const refused = await listSessions({ client: createClient({ baseUrl, auth: 'wrong' }) });
const unknown = await getSession({ client, path: { id: runId } });
const reused = await upload(1);

console.log(
  JSON.stringify({
    listed: list.data?.items.length ?? 0,
    segments: transcript.segments.length,
    text: transcript.segments.map((segment) => segment.text).join(' '),
    words: transcript.segments.flatMap((segment) => segment.words ?? []).length,
    problems: [refused.error?.code, unknown.error?.code, reused.error?.code],
  }),
);
