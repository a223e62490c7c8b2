import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';

/** A multipart/form-data body that is read from disk while it is sent. It can be sent several times. */
export interface UploadForm {
  headers: { 'Content-Type': string; 'Content-Length': string };
  /** The size of the whole body, with the parts around the file. */
  sizeBytes: number;
  fileBytes: number;
  /** @param onSent hears how many bytes the connection has taken so far */
  open(onSent: (bytes: number) => void): ReadableStream<Uint8Array>;
}

/**
 * `fetch` can encode a FormData itself, but does not report progress. And when the length is known before, the service
 * can refuse a file that is too large before it is sent.
 */
export async function uploadForm(file: string): Promise<UploadForm> {
  const boundary = `transcription-${randomUUID()}`;
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename="${escaped(basename(file))}"`,
    'Content-Type: application/octet-stream',
    '\r\n',
  ].join('\r\n');
  const content = await openAsBlob(file);
  const form = new Blob([head, content, `\r\n--${boundary}--\r\n`]);
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Content-Length': String(form.size) },
    sizeBytes: form.size,
    fileBytes: content.size,
    open: (onSent) => form.stream().pipeThrough(counting(onSent)),
  };
}

/** Escapes a file name for a form, as the HTML standard says. */
function escaped(fileName: string): string {
  return fileName.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

function counting(onSent: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  let sent = 0;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      sent += chunk.byteLength;
      onSent(sent);
    },
  });
}
