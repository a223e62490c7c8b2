/** The main job of the contract: upload a recording, wait for its transcript, and look through what is there. */
import createClient from 'openapi-fetch';
import { SessionFailed } from './errors.ts';
import { pause, persistently } from './persistence.ts';
import type { Client } from 'openapi-fetch';
import type { operations, paths } from '../../codegen/api.ts';
import type { Asking } from './persistence.ts';
import type { Page, Schemas, Transcript, UploadFields } from './types.ts';

export interface ClientOptions {
  /** Where version 1 is served, such as `https://transcripts.example.com/v1`. */
  url: string;
  apiKey: string;
}

export interface UploadOptions extends Asking {
  /** Sent again with the same key, an upload is not queued or charged twice. A new one for each call by default. */
  idempotencyKey?: string;
  /** In Node.js, receives the part of the upload that the connection has taken, 0 to 1. */
  onSent?(this: void, part: number): void;
}

export interface WaitOptions extends Asking {
  /** Asks for the words with their times, too. */
  words?: boolean;
}

type Query = NonNullable<operations['listSessions']['parameters']['query']>;

const waitSeconds = 30;
/** Longer than `wait`, as the contract asks. */
const timeLimitMs = 40_000;
/** A service that stops answers clients that wait at once. */
const betweenWaitsMs = 500;

export class TranscriptionClient {
  /** Every operation of the contract, as it is. Answers have `data` or `error`; nothing is repeated. */
  readonly api: Client<paths>;

  constructor({ url, apiKey }: ClientOptions) {
    this.api = createClient<paths>({
      baseUrl: url,
      headers: { Authorization: `Bearer ${apiKey}` },
      redirect: 'manual',
    });
  }

  /**
   * Uploads a recording; its transcript comes later.
   *
   * @param file such as a `File` of a browser, or `new File([await openAsBlob(path)], name)` of Node.js, which is read while
   * it is sent
   * @throws {NotReadable} when it changes meanwhile
   */
  async upload(
    file: Blob,
    fields: UploadFields = {},
    options: UploadOptions = {},
  ): Promise<Schemas['TranscriptionJob']> {
    const { idempotencyKey = crypto.randomUUID(), signal, onSent } = options;
    const send = () =>
      this.api.POST('/transcriptions', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        // Only for its type: the body is what `bodySerializer` returns.
        body: { file: '' },
        ...formOf(file, fields, onSent),
        ...(signal && { signal }),
      });
    return persistently(send, options);
  }

  /**
   * The transcript of a session, once it is completed.
   *
   * @throws {SessionFailed}
   */
  async wait(sessionId: string, options: WaitOptions = {}): Promise<Transcript> {
    const { words = false, signal } = options;
    const query = { wait: waitSeconds, ...(words && { include: 'words' as const }) };
    const params = { path: { id: sessionId }, query };
    const look = () => {
      const limit = AbortSignal.timeout(timeLimitMs);
      const signals = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      return this.api.GET('/sessions/{id}/transcript', { params, signal: signals });
    };
    for (;;) {
      // Without `format` and `Accept` it is JSON.
      const transcript = (await persistently(look, options)) as Transcript;
      if (transcript.status === 'completed') return transcript;
      if (transcript.error !== undefined) throw new SessionFailed(sessionId, transcript.error);
      await pause(betweenWaitsMs, signal);
    }
  }

  /** The sessions of the account, newest first, a page at a time; with `q`, those that say it. */
  async *pages(query: Query = {}, options: Asking = {}): AsyncGenerator<Page> {
    const { signal } = options;
    for (let cursor = query.cursor; ;) {
      const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
      const page = await persistently(() => this.api.GET('/sessions', { params, ...(signal && { signal }) }), options);
      yield page;
      if (page.nextCursor === undefined) return;
      cursor = page.nextCursor;
    }
  }
}

/** A form whose file is read while it is sent. Its length is known before, so that what is too large is refused at once. */
function formOf(file: Blob, fields: UploadFields, onSent?: (part: number) => void) {
  const boundary = `transcription-${crypto.randomUUID()}`;
  const part = (disposition: string, ...lines: string[]) =>
    [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, ...lines].join('\r\n');
  const texts = Object.entries(fields).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => part(`name="${name}"`, '', `${each}`, '')),
  );
  // As the HTML standard says, but for control characters: a form and a title have none.
  const fileName = (file instanceof File ? file.name : 'blob').replaceAll(/\p{Cc}/gu, ' ').replaceAll('"', '%22');
  const head = part(`name="file"; filename="${fileName}"`, 'Content-Type: application/octet-stream', '', '');
  const whole = new Blob([...texts, head, file, `\r\n--${boundary}--\r\n`]);
  const type = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
  if (!isNode) return { headers: type, bodySerializer: () => whole };
  const counted = () => {
    let sent = 0;
    return new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        onSent?.((sent += chunk.length) / whole.size);
      },
    });
  };
  // Given the Blob itself, fetch would end the process when the file can't be read.
  return {
    headers: { ...type, 'Content-Length': String(whole.size) },
    bodySerializer: () => whole.stream().pipeThrough(counted()),
    duplex: 'half' as const,
  };
}

const isNode = (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;
