/** What every generated client does in the main job: upload, wait, read, list, and get three typed errors. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { clientWith } from './adapter.js';
import { Refusal } from './client.js';
import type { Client, Transcript } from './client.js';

const { API_URL = '', API_KEY = '', AUDIO = '', RUN_ID = '' } = process.env;
/** Where uploads go. Set only where something stands before the service that can't pass on a recording. */
const { UPLOAD_URL = API_URL } = process.env;

async function finalTranscript(client: Client, id: string): Promise<Transcript> {
  for (;;) {
    const transcript = await client.transcript(id);
    if (transcript.status === 'completed' || transcript.status === 'failed') return transcript;
  }
}

async function codeOf(request: Promise<unknown>): Promise<string> {
  try {
    await request;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
  throw new Error('no error');
}

// A function, because CommonJS has no `await` outside of one.
async function mainJob(client: Client, uploader: Client, stranger: Client): Promise<void> {
  const recording = new File([await openAsBlob(AUDIO)], basename(AUDIO));
  const { sessionId } = await uploader.upload(recording, RUN_ID);
  const { segments } = await finalTranscript(client, sessionId);
  const experience = {
    listed: (await client.finalSessions()).items.length,
    status: (await client.session(sessionId)).status,
    segments: segments.length,
    text: segments.map((segment) => segment.text).join(' '),
    words: segments.flatMap((segment) => segment.words ?? []).length,
    captions: await client.captions?.(sessionId),
    problems: [
      await codeOf(stranger.finalSessions()),
      await codeOf(client.session(RUN_ID)),
      await codeOf(uploader.upload(recording, RUN_ID, 1)),
    ],
  };
  console.log(JSON.stringify(experience));
}

void mainJob(clientWith(API_URL, API_KEY), clientWith(UPLOAD_URL, API_KEY), clientWith(API_URL, 'wrong'));
