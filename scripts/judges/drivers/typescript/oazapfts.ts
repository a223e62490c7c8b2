import * as api from './generated/api.js';
import { formOf, notText, Refusal, text } from './client.js';
import type { Problem } from './generated/api.js';
import type { Client } from './client.js';

type Answer = { status: number; data?: unknown };

/** What a success has, by its status; an error comes back as an answer, too. */
async function dataOf<Each extends Answer, Status extends number>(
  request: Promise<Each>,
  status: Status,
): Promise<Extract<Each, { status: Status; data: unknown }>['data']> {
  const answer = await request;
  if (answer.status !== status) throw new Refusal(answer.data as Problem);
  return answer.data;
}

export function clientWith(baseUrl: string, key: string): Client {
  const asUser = { baseUrl, headers: { Authorization: `Bearer ${key}` } };
  return {
    upload: (file, idempotencyKey, speakers) =>
      dataOf(api.createTranscription(formOf(file, speakers), { idempotencyKey }, asUser), 202),
    finalSessions: () => dataOf(api.listSessions({ limit: 5, status: ['completed', 'failed'] }, asUser), 200),
    session: (id) => dataOf(api.getSession(id, asUser), 200),
    transcript: async (id) => notText(await dataOf(api.getTranscript(id, { wait: 30, include: 'words' }, asUser), 200)),
    captions: async (id) => text(await dataOf(api.getTranscript(id, { format: 'vtt' }, asUser), 200)),
  };
}
