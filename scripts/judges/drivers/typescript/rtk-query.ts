import { configureStore } from '@reduxjs/toolkit';
import { api } from './generated/api.js';
import { notText, Refusal, text } from './client.js';
import type { Problem, TranscriptionRequest } from './generated/api.js';
import type { Client } from './client.js';

/** The body of an error has no type. */
async function refused<Data>(request: { unwrap(): Promise<Data> }): Promise<Data> {
  try {
    return await request.unwrap();
  } catch (error) {
    const { data } = error as { data?: Problem };
    throw data === undefined ? error : new Refusal(data);
  }
}

/** It would send the typed object as JSON. */
function formOf(file: File, speakers?: number) {
  const form = new FormData();
  form.set('file', file);
  if (speakers !== undefined) form.set('speakers', String(speakers));
  return form as unknown as TranscriptionRequest;
}

export function clientWith(baseUrl: string, key: string): Client {
  const { dispatch } = configureStore({
    reducer: { [api.reducerPath]: api.reducer },
    middleware: (standard) => standard({ thunk: { extraArgument: { baseUrl, key } } }).concat(api.middleware),
  });
  const { createTranscription, listSessions, getSession, getTranscript } = api.endpoints;
  const once = { subscribe: false, forceRefetch: true };
  return {
    upload: (file, idempotencyKey, speakers) => {
      const transcriptionRequest = formOf(file, speakers);
      return refused(
        dispatch(createTranscription.initiate({ 'Idempotency-Key': idempotencyKey, transcriptionRequest })),
      );
    },
    finalSessions: () => refused(dispatch(listSessions.initiate({ limit: 5, status: ['completed', 'failed'] }, once))),
    session: (id) => refused(dispatch(getSession.initiate({ id }, once))),
    transcript: async (id) =>
      notText(await refused(dispatch(getTranscript.initiate({ id, wait: 30, include: 'words' }, once)))),
    captions: async (id) => text(await refused(dispatch(getTranscript.initiate({ id, format: 'vtt' }, once)))),
  };
}
