import { createHash, randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { RecordingChanged } from './refusals.ts';
import type { RecordingFile } from './recording-file.ts';
import type { FormFields } from './form-fields.ts';

/** A multipart/form-data body that is read from disk while it is sent. It can be sent several times. */
export interface UploadForm {
  headers: { 'Content-Type': string; 'Content-Length': string };
  /** The size of the whole body, with the parts around the file. */
  sizeBytes: number;
  /**
   * Its stream fails with {@link RecordingChanged} before the end of the form, so that nothing of it is accepted.
   * @param onSent hears how many bytes the connection has taken so far
   */
  open(onSent: (bytes: number) => void): ReadableStream<Uint8Array>;
}

/**
 * `fetch` can encode a FormData itself, but does not report progress. And when the length is known before, the service
 * can refuse a file that is too large before it is sent.
 * @param sha256 what the bytes of the file must be
 */
export function uploadForm(recording: RecordingFile, fields: FormFields, sha256?: string): UploadForm {
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
    const hash = createHash('sha256');
    let sent = head.length;
    yield head;
    for await (const chunk of recording.read()) {
      if (sha256 !== undefined) hash.update(chunk);
      yield chunk;
      onSent((sent += chunk.length));
    }
    if (sha256 !== undefined && hash.digest('hex') !== sha256)
      throw new RecordingChanged(`${recording.path} was changed while it was sent`);
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
