import { Api, SessionStatus, TranscriptFormat, TranscriptInclude } from './generated/api.js';
import { formOf, Refusal, text } from './client.js';
import type { HttpResponse, Problem } from './generated/api.js';
import type { Client } from './client.js';

/** What is thrown has no type, but it is the answer. That of a transcript counts 304, without a body, as an error. */
async function dataOf<Data>(request: Promise<HttpResponse<Data, Problem | void>>): Promise<Data> {
  try {
    return (await request).data;
  } catch (answer) {
    throw new Refusal((answer as HttpResponse<Data, Problem>).error);
  }
}

export function clientWith(baseUrl: string, key: string): Client {
  const { sessions, transcriptions } = new Api({
    baseUrl,
    baseApiParams: { headers: { Authorization: `Bearer ${key}` } },
  });
  return {
    upload: (file, idempotencyKey, speakers) => {
      const headers = { 'Idempotency-Key': idempotencyKey };
      return dataOf(transcriptions.createTranscription(formOf(file, speakers), { headers }));
    },
    finalSessions: () =>
      dataOf(sessions.listSessions({ limit: 5, status: [SessionStatus.Completed, SessionStatus.Failed] })),
    session: (id) => dataOf(sessions.getSession(id)),
    transcript: (id) => dataOf(sessions.getTranscript(id, { wait: 30, include: TranscriptInclude.Words })),
    captions: async (id) =>
      text(await dataOf(sessions.getTranscript(id, { format: TranscriptFormat.Vtt }, { format: 'text' }))),
  };
}
