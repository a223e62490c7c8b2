/** What a client by orval (fetch) does in the main job. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { createTranscription, getSession, getTranscript, listSessions } from './generated/api.js';
import type { Transcript } from './generated/api.js';

const { API_KEY: key, AUDIO: audio = '', RUN_ID: runId = '' } = process.env;
const as = (token: string | undefined) => ({ headers: { Authorization: `Bearer ${token}` } });

async function upload(durationMs?: number) {
  const file = new File([await openAsBlob(audio)], basename(audio));
  const form = { file, ...(durationMs !== undefined && { durationMs }) };
  return createTranscription(form, { 'Idempotency-Key': runId }, as(key));
}

async function finalTranscript(id: string): Promise<Transcript> {
  for (;;) {
    const answer = await getTranscript(id, { wait: 30, include: 'words' }, undefined, as(key));
    // Captions are strings, and the type includes them.
    if (answer.status !== 200 || typeof answer.data === 'string') throw new Error(`no transcript: ${answer.status}`);
    if (answer.data.status === 'completed' || answer.data.status === 'failed') return answer.data;
  }
}

const accepted = await upload();
if (accepted.status !== 202) throw new Error(accepted.data.detail);
const transcript = await finalTranscript(accepted.data.sessionId);
const list = await listSessions({ limit: 5, status: ['completed', 'failed'] }, as(key));
const refused = await listSessions(undefined, as('wrong'));
const unknown = await getSession(runId, as(key));
const reused = await upload(1);

console.log(
  JSON.stringify({
    listed: list.status === 200 ? list.data.items.length : 0,
    segments: transcript.segments.length,
    text: transcript.segments.map((segment) => segment.text).join(' '),
    words: transcript.segments.flatMap((segment) => segment.words ?? []).length,
    problems: [
      refused.status === 401 && refused.data.code,
      unknown.status === 404 && unknown.data.code,
      reused.status === 422 && reused.data.code,
    ],
  }),
);
