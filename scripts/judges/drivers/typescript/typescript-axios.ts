import { isAxiosError } from 'axios';
import { Configuration, SessionsApi, TranscriptionsApi } from './generated/index.js';
import { Refusal, text } from './client.js';
import type { AxiosResponse } from 'axios';
import type { Problem } from './generated/index.js';
import type { Client } from './client.js';

/** The type of an error's body is the caller's to name. */
async function dataOf<Data>(request: Promise<AxiosResponse<Data>>): Promise<Data> {
  try {
    return (await request).data;
  } catch (error) {
    if (!isAxiosError<Problem>(error) || error.response === undefined) throw error;
    throw new Refusal(error.response.data);
  }
}

/** Every field is given by its place; these come before `speakers`. */
const noOtherFields = [undefined, undefined, undefined, undefined, undefined, undefined] as const;

export function clientWith(basePath: string, accessToken: string): Client {
  const configuration = new Configuration({ basePath, accessToken });
  const sessions = new SessionsApi(configuration);
  const transcriptions = new TranscriptionsApi(configuration);
  return {
    upload: (file, idempotencyKey, speakers) =>
      dataOf(transcriptions.createTranscription(file, idempotencyKey, ...noOtherFields, speakers)),
    finalSessions: () => dataOf(sessions.listSessions(5, undefined, ['completed', 'failed'])),
    session: (id) => dataOf(sessions.getSession(id)),
    transcript: (id) => dataOf(sessions.getTranscript(id, 30, 'words')),
    captions: async (id) => text((await sessions.getTranscript(id, undefined, undefined, undefined, 'vtt')).data),
  };
}
