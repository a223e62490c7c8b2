import { createClient } from 'fets';
import { formOf, notText, Refusal } from './client.js';
import type { NormalizeOAS } from 'fets';
import type contract from './contract.js';
import type { Client } from './client.js';

/** With the contract's servers only their own relative address would be taken. */
type Contract = NormalizeOAS<Omit<typeof contract, 'servers'>>;

export function clientWith(endpoint: string, key: string): Client {
  const api = createClient<Contract>({ endpoint, globalParams: { headers: { Authorization: `Bearer ${key}` } } });
  return {
    async upload(file, idempotencyKey, speakers) {
      const answer = await api['/transcriptions'].post({
        headers: { 'Idempotency-Key': idempotencyKey },
        formData: formOf(file, speakers),
      });
      if (answer.status !== 202) throw new Refusal(await answer.json());
      return answer.json();
    },
    async finalSessions() {
      const answer = await api['/sessions'].get({ query: { limit: 5, status: ['completed', 'failed'] } });
      if (!answer.ok) throw new Refusal(await answer.json());
      return answer.json();
    },
    async session(id) {
      const answer = await api['/sessions/{id}'].get({ params: { id } });
      if (!answer.ok) throw new Refusal(await answer.json());
      return answer.json();
    },
    async transcript(id) {
      const answer = await api['/sessions/{id}/transcript'].get({
        params: { id },
        query: { wait: 30, include: 'words' },
      });
      if (answer.status !== 200) throw new Refusal(await answer.json());
      return notText(await answer.json());
    },
    async captions(id) {
      const answer = await api['/sessions/{id}/transcript'].get({ params: { id }, query: { format: 'vtt' } });
      return answer.text();
    },
  };
}
