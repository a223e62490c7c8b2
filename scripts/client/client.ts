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
}

export interface WaitOptions extends Asking {
  /** Asks for the words with their times, too. */
  words?: boolean;
}

type Query = NonNullable<operations['listSessions']['parameters']['query']>;

const waitSeconds = 30;
/** Longer than `wait`, as the contract tells every client. */
const timeLimitMs = 40_000;
/** A service that stops answers clients that wait at once. */
const betweenWaitsMs = 500;

export class TranscriptionClient {
  /** Every operation of the contract, as it is. Answers have `data` or `error`; nothing is repeated. */
  readonly api: Client<paths>;

  constructor({ url, apiKey }: ClientOptions) {
    this.api = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${apiKey}` } });
  }

  /**
   * Uploads a recording; its transcript comes later.
   *
   * @param file such as a `File` of a browser, or `await openAsBlob(path)` of Node.js, which is read while it is sent
   * @param fields `title`, for one: a Blob that is no `File` is called `blob` without it
   */
  async upload(
    file: Blob,
    fields: UploadFields = {},
    options: UploadOptions = {},
  ): Promise<Schemas['TranscriptionJob']> {
    const { idempotencyKey = crypto.randomUUID(), signal } = options;
    const send = () =>
      this.api.POST('/transcriptions', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        // Only for its type: the body is what `bodySerializer` returns.
        body: { file: '' },
        bodySerializer: () => formOf(file, fields),
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

function formOf(file: Blob, fields: UploadFields): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value].flat()) if (each !== undefined) form.append(name, String(each));
  }
  form.set('file', file);
  return form;
}
