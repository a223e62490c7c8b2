/** Sends one recording, as any client of the contract would do. */
import { NotSent } from './refusals.ts';
import { askPersistently } from './persistence.ts';
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { ApiClient } from '../terminal/api-client.ts';
import type { FormFields } from './form-fields.ts';
import type { Asking } from './persistence.ts';
import type { RecordingFile } from './recording-file.ts';

export interface Upload {
  recording: RecordingFile;
  fields: FormFields;
  idempotencyKey: string;
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
  { recording, fields, idempotencyKey }: Upload,
  { onPause, signal }: Asking,
  onSent: (part: number) => void,
): Promise<string> {
  const form = uploadForm(recording, fields);
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

/** A multipart/form-data body that is read from disk while it is sent. It can be sent several times. */
export interface UploadForm {
  headers: { 'Content-Type': string; 'Content-Length': string };
  /** The size of the whole body, with the parts around the file. */
  sizeBytes: number;
  /**
   * Its stream fails with `RecordingChanged` before the end of the form, so that nothing of it is accepted.
   * @param onSent hears how many bytes the connection has taken so far
   */
  open(onSent: (bytes: number) => void): ReadableStream<Uint8Array>;
}

/**
 * `fetch` can encode a FormData itself, but does not report progress. And when the length is known before, the service
 * can refuse a file that is too large before it is sent.
 */
export function uploadForm(recording: RecordingFile, fields: FormFields): UploadForm {
  const boundary = `transcription-${randomUUID()}`;
  const part = (disposition: string, ...lines: string[]) =>
    [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, ...lines].join('\r\n');
  const texts = fields.map(([name, value]) => part(`name="${name}"`, '', value, ''));
  const fileName = escaped(basename(recording.path));
  const file = part(`name="file"; filename="${fileName}"`, 'Content-Type: application/octet-stream', '', '');
  const head = Buffer.from([...texts, file].join(''));
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const sizeBytes = head.length + recording.state.bytes + tail.length;

  async function* body(onSent: (bytes: number) => void): AsyncGenerator<Uint8Array> {
    let sent = head.length;
    yield head;
    for await (const chunk of recording.read()) {
      yield chunk;
      onSent((sent += chunk.length));
    }
    yield tail;
    onSent(sizeBytes);
  }

  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Content-Length': String(sizeBytes) },
    sizeBytes,
    open: (onSent) => ReadableStream.from(body(onSent)),
  };
}

/** A file name for a form, as the HTML standard says, but for control characters: a form and a title have none. */
function escaped(fileName: string): string {
  return fileName.replaceAll(/\p{Cc}/gu, ' ').replaceAll('"', '%22');
}
