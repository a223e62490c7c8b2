import { createTranscription, getSession, getTranscript, listSessions } from './generated/api.js';
import { notText, Refusal, text } from './client.js';
import type { Client } from './client.js';

/** The base address was given when the client was generated. */
export function clientWith(_baseUrl: string, key: string): Client {
  const asUser = { headers: { Authorization: `Bearer ${key}` } };
  return {
    async upload(file, idempotencyKey, speakers) {
      const answer = await createTranscription({ file, speakers }, { 'Idempotency-Key': idempotencyKey }, asUser);
      if (answer.status !== 202) throw new Refusal(answer.data);
      return answer.data;
    },
    async finalSessions() {
      const answer = await listSessions({ limit: 5, status: ['completed', 'failed'] }, asUser);
      if (answer.status !== 200) throw new Refusal(answer.data);
      return answer.data;
    },
    async session(id) {
      const answer = await getSession(id, asUser);
      if (answer.status !== 200) throw new Refusal(answer.data);
      return answer.data;
    },
    async transcript(id) {
      const answer = await getTranscript(id, { wait: 30, include: 'words' }, undefined, asUser);
      if (answer.status !== 200) throw new Error(`no transcript: ${answer.status}`);
      return notText(answer.data);
    },
    async captions(id) {
      const answer = await getTranscript(id, { format: 'vtt' }, undefined, asUser);
      return text(answer.data);
    },
  };
}
