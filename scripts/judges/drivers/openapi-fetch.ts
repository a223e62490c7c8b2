/** What a client by openapi-typescript and openapi-fetch does in the main job. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

type Transcript = components['schemas']['Transcript'];

const { API_URL: baseUrl = '', API_KEY: key, AUDIO: audio = '', RUN_ID: runId = '' } = process.env;
const clientWith = (token: string | undefined) =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
const client = clientWith(key);

async function upload(durationMs?: number) {
  const file = await openAsBlob(audio);
  return client.POST('/transcriptions', {
    params: { header: { 'Idempotency-Key': runId } },
    // The type of a binary field is `string`. The serializer sends the file instead.
    body: { file: basename(audio), ...(durationMs !== undefined && { durationMs }) },
    bodySerializer(body) {
      const form = new FormData();
      form.set('file', file, body.file);
      if (body.durationMs !== undefined) form.set('durationMs', String(body.durationMs));
      return form;
    },
  });
}

async function finalTranscript(id: string): Promise<Transcript> {
  for (;;) {
    const params = { path: { id }, query: { wait: 30, include: 'words' as const } };
    const { data, error } = await client.GET('/sessions/{id}/transcript', { params });
    // Captions are strings, and the type includes them.
    if (data === undefined || typeof data === 'string') throw new Error(error?.code ?? 'captions instead of JSON');
    if (data.status === 'completed' || data.status === 'failed') return data;
  }
}

const accepted = await upload();
if (accepted.error !== undefined) throw new Error(accepted.error.detail);
const transcript = await finalTranscript(accepted.data.sessionId);
const list = await client.GET('/sessions', { params: { query: { limit: 5, status: ['completed', 'failed'] } } });
const refused = await clientWith('wrong').GET('/sessions');
const unknown = await client.GET('/sessions/{id}', { params: { path: { id: runId } } });
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
