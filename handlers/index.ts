import { createTranscription } from './createTranscription.ts';
import { getOpenApi } from './getOpenApi.ts';
import { getSession } from './getSession.ts';
import { getTranscript } from './getTranscript.ts';
import { listSessions } from './listSessions.ts';
import type { Handlers } from '../src/api/handler.ts';

/** Every operation of the contract; one that is missing here does not compile. */
export const handlers: Handlers = { createTranscription, getOpenApi, getSession, getTranscript, listSessions };
