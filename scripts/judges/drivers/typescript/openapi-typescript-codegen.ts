import { Api, ApiError } from './generated/index.js';
import { Refusal, text } from './client.js';
import type { Problem } from './generated/index.js';
import type { Client } from './client.js';

/** The body of an error is `any`. */
async function refused<Data>(request: Promise<Data>): Promise<Data> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new Refusal(error.body as Problem);
  }
}

export function clientWith(base: string, token: string): Client {
  const { sessions, transcriptions } = new Api({ BASE: base, TOKEN: token });
  return {
    upload: (file, idempotencyKey, speakers) =>
      refused(transcriptions.createTranscription({ file, speakers }, idempotencyKey)),
    finalSessions: () => refused(sessions.listSessions(5, undefined, ['completed', 'failed'])),
    session: (id) => refused(sessions.getSession(id)),
    transcript: (id) => refused(sessions.getTranscript(id, 30, 'words')),
    captions: async (id) => text(await sessions.getTranscript(id, undefined, undefined, undefined, 'vtt')),
  };
}
