import { createApiClient } from './generated/api.js';
import { formOf, Refusal, text } from './client.js';
import type { Fetcher, Schemas } from './generated/api.js';
import type { Client } from './client.js';

/** It leaves the sending to its user: the key, header parameters and the form. */
const fetcherWith = (key: string): Fetcher => ({
  fetch({ method, url, urlSearchParams, parameters }) {
    url.search = String(urlSearchParams ?? '');
    const headers = { Authorization: `Bearer ${key}`, ...(parameters?.header as Record<string, string>) };
    return fetch(url, { method, headers, body: bodyOf(parameters?.body) });
  },
});

function bodyOf(fields: unknown): FormData | null {
  if (fields === undefined) return null;
  const form = new FormData();
  for (const [name, value] of Object.entries(fields as Record<string, string | File>)) form.set(name, value);
  return form;
}

type Answer = { status: number; data: unknown };

/** What a success has, by its status: 304 counts as one, too. An error comes back as an answer. */
async function dataOf<Each extends Answer, Status extends number>(
  request: Promise<Each>,
  status: Status,
): Promise<Extract<Each, { status: Status }>['data']> {
  const answer = await request;
  if (answer.status !== status) throw new Refusal(answer.data as Schemas.Problem);
  return answer.data;
}

export function clientWith(baseUrl: string, key: string): Client {
  const api = createApiClient(fetcherWith(key), baseUrl);
  const transcriptPath = '/sessions/{id}/transcript';
  const withResponse = true;
  return {
    async upload(file, idempotencyKey, speakers) {
      const header = { 'Idempotency-Key': idempotencyKey };
      // The type of a binary field is `string`.
      const body = { ...formOf(file, speakers), file: file as unknown as string };
      return dataOf(api.post('/transcriptions', { header, body, withResponse }), 202);
    },
    async finalSessions() {
      return dataOf(api.get('/sessions', { query: { limit: 5, status: ['completed', 'failed'] }, withResponse }), 200);
    },
    async session(id) {
      return dataOf(api.get('/sessions/{id}', { path: { id }, withResponse }), 200);
    },
    async transcript(id) {
      const query = { wait: 30, include: 'words' as const };
      return dataOf(api.get(transcriptPath, { path: { id }, query, header: {}, withResponse }), 200);
    },
    async captions(id) {
      const query = { format: 'vtt' as const };
      return text(await dataOf(api.get(transcriptPath, { path: { id }, query, header: {}, withResponse }), 200));
    },
  };
}
