import { isAxiosError } from 'axios';
import { createApiClient, schemas } from './generated/api.js';
import { formOf, notText, Refusal, text } from './client.js';
import type { Client } from './client.js';

async function refused<Data>(request: Promise<Data>): Promise<Data> {
  try {
    return await request;
  } catch (error) {
    if (!isAxiosError(error) || error.response === undefined) throw error;
    throw new Refusal(schemas.Problem.parse(error.response.data));
  }
}

export function clientWith(baseUrl: string, key: string): Client {
  const headers = { Authorization: `Bearer ${key}` };
  // Without it axios names a list `status[]`.
  const paramsSerializer = { indexes: null };
  const api = createApiClient(baseUrl, { axiosConfig: { headers, paramsSerializer } });
  return {
    upload: (file, idempotencyKey, speakers) => {
      return refused(
        api.createTranscription(formOf(file, speakers), { headers: { 'Idempotency-Key': idempotencyKey } }),
      );
    },
    finalSessions: () => refused(api.listSessions({ queries: { limit: 5, status: ['completed', 'failed'] } })),
    session: (id) => refused(api.getSession({ params: { id } })),
    transcript: async (id) =>
      notText(await refused(api.getTranscript({ params: { id }, queries: { wait: 30, include: 'words' } }))),
    captions: async (id) => text(await refused(api.getTranscript({ params: { id }, queries: { format: 'vtt' } }))),
  };
}
