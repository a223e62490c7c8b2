import { Configuration, ProblemFromJSON, ResponseError, SessionsApi, TranscriptionsApi } from './generated/index.js';
import { Refusal } from './client.js';
import type { Client } from './client.js';

/** What is thrown carries the answer unread; the function that reads it is generated. */
async function refused<Data>(request: Promise<Data>): Promise<Data> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    throw new Refusal(ProblemFromJSON(await error.response.json()));
  }
}

export function clientWith(basePath: string, accessToken: string): Client {
  const configuration = new Configuration({ basePath, accessToken });
  const sessions = new SessionsApi(configuration);
  const transcriptions = new TranscriptionsApi(configuration);
  return {
    upload: (file, idempotencyKey, speakers) =>
      refused(transcriptions.createTranscription({ file, idempotencyKey, speakers })),
    finalSessions: () => refused(sessions.listSessions({ limit: 5, status: ['completed', 'failed'] })),
    session: (id) => refused(sessions.getSession({ id })),
    transcript: (id) => refused(sessions.getTranscript({ id, wait: 30, include: 'words' })),
    captions: async (id) => (await sessions.getTranscriptRaw({ id, format: 'vtt' })).raw.text(),
  };
}
