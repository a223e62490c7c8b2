/** Sends one recording through the service, as any client of the contract would do. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { askPersistently } from './persistence.ts';
import { Refusal } from '../terminal/refusal.ts';
import { readableSize } from '../terminal/readable.ts';
import { uploadForm } from './upload-form.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { ApiClient } from '../terminal/api-client.ts';
import type { Progress, Step } from '../terminal/progress.ts';

const firstLookMs = 500;
const slowestLookMs = 5_000;

/**
 * Uploads a file and waits for its transcript.
 * @throws {Refusal} when the service refuses the file, fails to transcribe it or can't be reached
 */
export async function transcribe(
  client: ApiClient,
  file: string,
  options: { words?: boolean; progress: Progress },
): Promise<Schema<'Transcript'>> {
  const { sessionId } = await upload(client, file, options.progress);
  const step = options.progress.begin('Transcribing', 100);
  const finished = new AbortController();
  const looking = showProgress(client, sessionId, (percent) => step.reach(percent), finished.signal);
  try {
    return await endingStep(step, () => finalTranscript(client, sessionId, options));
  } finally {
    finished.abort();
    await looking;
  }
}

async function upload(client: ApiClient, file: string, progress: Progress): Promise<Schema<'TranscriptionJob'>> {
  const form = await uploadForm(file);
  const step = progress.begin(`Uploading ${basename(file)} (${readableSize(form.fileBytes)})`, form.sizeBytes);
  const idempotencyKey = randomUUID();
  const send = () =>
    client.POST('/transcriptions', {
      params: { header: { 'Idempotency-Key': idempotencyKey } },
      headers: form.headers,
      body: { file },
      bodySerializer: () => form.open((bytes) => step.reach(bytes)),
      duplex: 'half',
    });
  return endingStep(step, () => askPersistently(send, progress.say));
}

async function endingStep<Result>(step: Step, work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work();
    step.end(true);
    return result;
  } catch (error) {
    step.end(false);
    throw error;
  }
}

async function finalTranscript(
  client: ApiClient,
  sessionId: string,
  { words, progress }: { words?: boolean; progress: Progress },
): Promise<Schema<'Transcript'>> {
  const query = { wait: 30, ...(words === true && { include: 'words' as const }) };
  const look = () =>
    client.GET('/sessions/{id}/transcript', {
      params: { path: { id: sessionId }, query },
      headers: { Accept: 'application/json' },
    });
  for (;;) {
    const transcript = (await askPersistently(look, progress.say)) as Schema<'Transcript'>;
    if (transcript.status === 'completed') return transcript;
    if (transcript.status === 'failed') throw failureOf(transcript);
    // A service that stops answers waiting clients at once, so there is a pause before the next request.
    await delay(firstLookMs);
  }
}

function failureOf({ sessionId, error }: Schema<'Transcript'>): Refusal {
  const { message, code } = error ?? { message: 'The transcription failed', code: 'unknown' };
  return new Refusal(`${message} (${code})\nSession ${sessionId}. Nothing was charged.`);
}

/**
 * Shows progress. It asks less and less often, so that a long recording doesn't use up the allowance. Errors are
 * ignored.
 */
async function showProgress(
  client: ApiClient,
  sessionId: string,
  onPercent: (percent: number) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let pauseMs = firstLookMs; !signal.aborted; pauseMs = Math.min(pauseMs * 1.5, slowestLookMs)) {
    try {
      await delay(pauseMs, undefined, { signal });
      const { data } = await client.GET('/sessions/{id}', { params: { path: { id: sessionId } }, signal });
      if (data?.progress !== undefined) onPercent(data.progress);
    } catch {
      continue;
    }
  }
}
