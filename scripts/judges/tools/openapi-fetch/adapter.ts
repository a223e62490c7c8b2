import createClient from 'openapi-fetch';
import { dataOf, notText } from './client.js';
import type { paths } from './api.js';
import type { Client } from './client.js';

export function clientWith(baseUrl: string, key: string): Client {
  const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  const transcriptPath = '/sessions/{id}/transcript';
  return {
    async upload(file, idempotencyKey, speakers) {
      const answer = await api.POST('/transcriptions', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        // The type of a binary field is `string`. The serializer sends the file instead.
        body: { file: file.name, ...(speakers !== undefined && { speakers }) },
        bodySerializer(body) {
          const form = new FormData();
          form.set('file', file, body.file);
          if (body.speakers !== undefined) form.set('speakers', String(body.speakers));
          return form;
        },
      });
      return dataOf(answer);
    },
    async finalSessions() {
      return dataOf(await api.GET('/sessions', { params: { query: { limit: 5, status: ['completed', 'failed'] } } }));
    },
    async session(id) {
      return dataOf(await api.GET('/sessions/{id}', { params: { path: { id } } }));
    },
    async transcript(id) {
      const params = { path: { id }, query: { wait: 30, include: 'words' as const } };
      return notText(dataOf(await api.GET(transcriptPath, { params })));
    },
    async captions(id) {
      const params = { path: { id }, query: { format: 'vtt' as const } };
      return dataOf(await api.GET(transcriptPath, { params, parseAs: 'text' }));
    },
  };
}
