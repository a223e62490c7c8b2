/** The one door to multer: reads a multipart upload to disk and checks its form against the contract. */
import { Transform } from 'node:stream';
import multer from 'multer';
import { ApiError } from '../answers/problem.ts';
import { isCutOff, onCutOff } from '../connections/client-disconnected.ts';
import { Pace } from '../connections/limits.ts';
import { invalidField, uploadForm, fileTooLarge, formOverheadBytes } from './form.ts';
import { uploadStorage } from './storage.ts';
import { PartHeads } from './part-heads.ts';
import type { Request, Response } from 'express';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable, TransformCallback, Writable } from 'node:stream';
import type { AppContext } from '../../sessions/app-context.ts';
import type { StoredFile } from './storage.ts';

export type Upload = ReturnType<typeof readForm>;

// A little more than the contract allows, because multer's refusal would not name the field. `onlyOneFile` and
// `uploadForm` refuse it by name.
const maxFiles = 2;
const formLimits = {
  files: maxFiles,
  fields: uploadForm.maxFields,
  parts: maxFiles + uploadForm.maxFields,
  fieldSize: uploadForm.maxValueBytes,
  fieldNameSize: 100,
  fieldNestingDepth: 0,
};

/** With the options of multer 2.5 that its types do not have yet. */
type FormSettings = multer.Options & { fileHwm: number; streamHandler: (source: Readable, busboy: Writable) => void };

/**
 * Receives the body of an upload. When it fails, nothing is left on disk. When it succeeds, the file belongs to the
 * caller and is being flushed to disk (`flushed`).
 *
 * @param req one that was admitted
 * @param options.boundary of the form
 * @param options.keep whether to keep the file: of a repeated upload only the hash is needed
 * @param options.maxBytes the largest file
 * @param options.hash whether the file's SHA-256 is needed
 * @throws {ApiError} 400 `invalid_request` or `empty_file`, 408 `upload_timeout`, 413 `file_too_large`, 422
 *   `upload_incomplete`, 503 `unavailable` when the disk is full
 */
export async function receiveUpload(
  req: IncomingMessage,
  { spool, config }: Pick<AppContext, 'spool' | 'config'>,
  options: { boundary: string; maxBytes: number; hash: boolean; keep: boolean },
): Promise<Upload> {
  // The client left, or closed its half, while its headers were checked. No event would ever come for this body.
  if (req.destroyed || isCutOff(req)) throw incomplete();
  const meter = new UploadMeter(options.boundary, options.maxBytes);
  const unnamed: string[] = [];
  const encoded: string[] = [];
  const storage = uploadStorage(spool, { ...options, minFreeDisk: config.minFreeDisk });
  const settings: FormSettings = {
    storage,
    limits: { ...formLimits, fileSize: options.maxBytes },
    defParamCharset: 'utf8',
    // The name only becomes a title, and the title's code removes folders. multer would drop a file called "/".
    preservePath: true,
    fileHwm: 1024 * 1024,
    fileFilter: onlyOneFile(),
    streamHandler: (source, busboy) => {
      // multer would read a refused body to its end before it says so. When it has decided, it unpipes the parser: then
      // the body is not needed any more.
      busboy.once('unpipe', () => {
        req.unpipe(meter);
        meter.destroy();
      });
      // A file without a name never gets as far as `onlyOneFile`: multer drops it.
      busboy.on('file', (field: string, _content: Readable, { filename }: { filename?: string }) => {
        if (!filename) unnamed.push(field);
      });
      busboy.on('field', (field: string, _text: string, { encoding }: { encoding: string }) => {
        if (!isAsItIs(encoding)) encoded.push(field);
      });
      source.pipe(busboy);
    },
  };
  const parse = multer(settings).any();

  const form = meter as unknown as Request & { files?: Express.Multer.File[] };
  const left = () => {
    // This event also comes when the whole request was read and the disk is still busy with it.
    if (!req.complete) meter.destroy(incomplete());
  };
  req.once('close', left);
  const endHearing = onCutOff(req, left);
  try {
    await new Promise<void>((resolve, reject) => {
      parse(form, {} as Response, (error: unknown) =>
        error === undefined || error === null ? resolve() : reject(error),
      );
      req.pipe(meter);
    });
  } catch (error) {
    // multer does not wait for the file that it was writing when the connection or the disk broke.
    await storage.settled();
    throw uploadError(error, options.maxBytes, form.body as Texts);
  } finally {
    req.off('close', left);
    endHearing();
    req.unpipe(meter);
    meter.destroy();
  }

  const stored = form.files?.[0] as (Express.Multer.File & StoredFile) | undefined;
  try {
    return readForm(form.body as Texts, stored, { unnamed, encoded });
  } catch (error) {
    if (stored?.path !== undefined) await spool.remove(stored.path);
    throw error;
  }
}

const faults = {
  stalled: 'No byte of the upload arrived for 30 seconds.',
  slow: 'The upload came at less than 16 KiB per second.',
};
const checkEveryMs = 1_000;

/**
 * Passes an upload on. Ends it when the client stalls (30 s without a byte, or less than 16 KiB/s over 60 s), or when
 * it sends more than a file of the largest size needs. Without that bound, a body without a length could go on for ever
 * beside its file. On the way the heads of its parts are spelled in one way, by `PartHeads`.
 */
class UploadMeter extends Transform {
  /**
   * multer takes this stream for the request, and reads from its headers that there is a body and what its boundary is.
   * Of the client's own headers it would take some for no form at all: readers of forms agree on this one spelling.
   */
  readonly headers: IncomingHttpHeaders;
  readonly #maxFileBytes: number;
  readonly #heads: PartHeads;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #pace = new Pace(0, performance.now());

  constructor(boundary: string, maxFileBytes: number) {
    super({ highWaterMark: 1024 * 1024 });
    this.headers = { 'content-type': `multipart/form-data; boundary="${boundary}"`, 'transfer-encoding': 'chunked' };
    this.#maxFileBytes = maxFileBytes;
    this.#heads = new PartHeads(boundary);
    this.#timer = setInterval(() => this.#check(), checkEveryMs);
    this.once('close', () => clearInterval(this.#timer));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxFileBytes + formOverheadBytes) done(fileTooLarge(this.#maxFileBytes));
    else done(null, this.#heads.pass(chunk));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#heads.rest());
  }

  #check(): void {
    const now = performance.now();
    // Otherwise the disk is slow, not the client.
    const isClientsTurn = !this.writableNeedDrain && !this.writableEnded;
    const fault = isClientsTurn ? this.#pace.faultAt(this.#bytes, now) : undefined;
    if (!isClientsTurn) this.#pace = new Pace(this.#bytes, now);
    if (fault !== undefined) this.destroy(new ApiError(408, 'upload_timeout', faults[fault]));
  }
}

function onlyOneFile(): NonNullable<multer.Options['fileFilter']> {
  let seen = false;
  return (_req, { fieldname, encoding }, done) => {
    if (fieldname !== 'file') done(noFile(fieldname, seen));
    else if (seen) done(invalidField('file', 'is repeated'));
    else if (!isAsItIs(encoding)) done(encodedField('file'));
    else {
      seen = true;
      done(null, true);
    }
  };
}

/** @param isThere whether the recording came already */
function noFile(name: string, isThere: boolean): ApiError {
  if (uploadForm.knows(name)) return invalidField(name, 'must be sent as text, without a file name');
  return invalidField(name, isThere ? 'is not known' : 'is not known; the recording goes in "file"');
}

/** RFC 7578, section 4.7: the encodings of mail are not used in forms. */
const isAsItIs = (encoding: string) => /^(7bit|8bit|binary)$/i.test(encoding);
const encodedField = (name: string) => invalidField(name, 'must be sent as it is, without Content-Transfer-Encoding');

/** What came as text, by its name. */
type Texts = Readonly<Record<string, unknown>>;

/** @param fields those that came as a file without a name, and those in an encoding of mail */
function readForm(
  texts: Texts,
  stored: (Express.Multer.File & StoredFile) | undefined,
  { unnamed, encoded }: { unnamed: readonly string[]; encoded: readonly string[] },
) {
  // The first file has a name.
  if ('file' in texts || unnamed.includes('file')) throw invalidField('file', 'is repeated');
  if (unnamed[0] !== undefined) throw noFile(unnamed[0], stored !== undefined);
  if (encoded[0] !== undefined) throw encodedField(encoded[0]);
  const body = uploadForm.read(texts, stored === undefined);
  if (stored === undefined) throw invalidField('file', 'is required');
  if (stored.size === 0) throw emptyFile();
  const { path, size, sha256, flushed, originalname } = stored;
  return { file: { path, sizeBytes: size, sha256, flushed, originalName: originalname }, body };
}

/** @param texts what had been read when it failed */
function uploadError(error: unknown, limitBytes: number, texts: Texts): unknown {
  if (error instanceof multer.MulterError) return refusalOf(error, limitBytes, texts);
  if (Error.isError(error) && /^Unexpected end of (form|file)/.test(error.message)) return incomplete();
  if (Error.isError(error) && /^(Malformed|Multipart|Unsupported|Unterminated)/.test(error.message)) {
    return new ApiError(400, 'invalid_request', 'The body is not valid multipart/form-data (RFC 7578).');
  }
  return error;
}

function refusalOf({ code, field, message }: multer.MulterError, limitBytes: number, texts: Texts): unknown {
  if (code === 'LIMIT_FILE_SIZE') return fileTooLarge(limitBytes);
  if (code === 'LIMIT_FILE_COUNT' || field === 'file') return invalidField('file', 'is repeated');
  if (field !== undefined) return invalidField(field, uploadForm.knows(field) ? 'is too long' : 'is not known');
  try {
    // Of too many fields, those that were read may name the wrong one.
    if (code === 'LIMIT_FIELD_COUNT') uploadForm.read(texts);
  } catch (refusal) {
    return refusal;
  }
  return new ApiError(400, 'invalid_request', `The form can not be read: ${message}.`);
}

const emptyFile = () =>
  new ApiError(400, 'empty_file', 'The file is empty.', {
    errors: [{ in: 'body', name: 'file', message: 'is empty' }],
  });

const incomplete = () => new ApiError(422, 'upload_incomplete', 'The upload ended before the form did.');
