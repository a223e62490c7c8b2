/** Sends one recording, as any client of the contract would do. */
import { NotSent } from './refusals.ts';
import { askPersistently } from './persistence.ts';
import { uploadForm } from './upload-form.ts';
import type { ApiClient } from '../terminal/api-client.ts';
import type { FormFields } from './form-fields.ts';
import type { Asking } from './persistence.ts';
import type { RecordingFile } from './recording-file.ts';

export interface Upload {
  recording: RecordingFile;
  fields: FormFields;
  idempotencyKey: string;
  /** What the bytes of the file must be. */
  sha256?: string | undefined;
}

/** How long an interrupted command waits for the answer to an upload that was sent to its end. */
const answerWithinMs = 5_000;

/**
 * @param onSent hears what part of the upload was sent, 0 to 1
 * @returns the session that was made for it
 * @throws {Problem | Unreachable | RecordingChanged}
 * @throws {NotSent} when `signal` aborts
 */
export async function upload(
  client: ApiClient,
  { recording, fields, idempotencyKey, sha256 }: Upload,
  { onPause, signal }: Asking,
  onSent: (part: number) => void,
): Promise<string> {
  const form = uploadForm(recording, fields, sha256);
  let isWhole = false;
  const giveUp = new AbortController();
  // What was sent to its end may be accepted, so its answer is worth waiting for.
  let waiting: NodeJS.Timeout | undefined;
  const interrupt = () => {
    if (isWhole) waiting = setTimeout(() => giveUp.abort(), answerWithinMs);
    else giveUp.abort();
  };
  signal?.addEventListener('abort', interrupt);
  const send = () =>
    client.POST('/transcriptions', {
      params: { header: { 'Idempotency-Key': idempotencyKey } },
      headers: form.headers,
      // Only for its type: the body is what `bodySerializer` returns.
      body: { file: recording.path },
      bodySerializer: () =>
        form.open((bytes) => {
          isWhole = bytes === form.sizeBytes;
          onSent(bytes / form.sizeBytes);
        }),
      duplex: 'half',
      signal: giveUp.signal,
    });
  try {
    signal?.throwIfAborted();
    const { sessionId } = await askPersistently(send, { onPause, signal: giveUp.signal });
    return sessionId;
  } catch (error) {
    if (signal?.aborted) throw new NotSent(isWhole);
    throw error;
  } finally {
    clearTimeout(waiting);
    signal?.removeEventListener('abort', interrupt);
  }
}
