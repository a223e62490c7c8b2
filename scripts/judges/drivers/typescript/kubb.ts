import { createTranscription } from './generated/clients/createTranscription.js';
import { getSession } from './generated/clients/getSession.js';
import { getTranscript } from './generated/clients/getTranscript.js';
import { listSessions } from './generated/clients/listSessions.js';
import { notText, Refusal } from './client.js';
import type { Problem } from './generated/types/Problem.js';
import type { Client } from './client.js';

/** An error comes back as an answer, and has the type of a success. */
async function dataOf<Data>(request: Promise<{ status: number; data: Data }>): Promise<Data> {
  const { status, data } = await request;
  if (status >= 400) throw new Refusal(data as Problem);
  return data;
}

export function clientWith(baseURL: string, key: string): Client {
  const asUser = { baseURL, headers: { Authorization: `Bearer ${key}` } };
  return {
    upload: (file, idempotencyKey, speakers) =>
      dataOf(createTranscription({ file, speakers }, { 'Idempotency-Key': idempotencyKey }, asUser)),
    finalSessions: () => dataOf(listSessions({ limit: 5, status: ['completed', 'failed'] }, asUser)),
    session: (id) => dataOf(getSession(id, asUser)),
    transcript: async (id) =>
      notText(await dataOf(getTranscript(id, { wait: 30, include: 'words' }, undefined, asUser))),
  };
}
