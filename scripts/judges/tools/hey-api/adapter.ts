import { createClient } from './generated/client/index.js';
import { createTranscription, getSession, getTranscript, listSessions } from './generated/index.js';
import { dataOf, notText, text } from './client.js';
import type { Client } from './client.js';

export function clientWith(baseUrl: string, key: string): Client {
  const client = createClient({ baseUrl, auth: key });
  return {
    async upload(file, idempotencyKey, speakers) {
      const headers = { 'Idempotency-Key': idempotencyKey };
      return dataOf(await createTranscription({ client, headers, body: { file, speakers } }));
    },
    async finalSessions() {
      return dataOf(await listSessions({ client, query: { limit: 5, status: ['completed', 'failed'] } }));
    },
    async session(id) {
      return dataOf(await getSession({ client, path: { id } }));
    },
    async transcript(id) {
      return notText(dataOf(await getTranscript({ client, path: { id }, query: { wait: 30, include: 'words' } })));
    },
    async captions(id) {
      return text(dataOf(await getTranscript({ client, path: { id }, query: { format: 'vtt' } })));
    },
  };
}
