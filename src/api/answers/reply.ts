/** Writing answers: what a handler returned, or the problem that stopped it. */
import { endAnswer, isBodyUnread } from './refusal.ts';
import { toProblem } from './problem.ts';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Request } from 'express';
import type { Response } from '../response.ts';
import type { ApiError } from './problem.ts';

/** The answer of any operation, as the app sees it. */
export interface AnyAnswer {
  status: number;
  headers?: Record<string, unknown>;
  contentType?: string;
  body?: unknown;
}

/** Headers that an answer may have set before it failed. They are not true of the problem that is sent instead. */
const ofFailedAnswer = [
  ...['Content-Encoding', 'Content-Length', 'ETag', 'Location', 'Retry-After', 'Idempotency-Replayed'],
];

/** @returns when a long body was sent */
export async function sendAnswer(req: Request, res: Response, answer: AnyAnswer): Promise<void> {
  const { status, headers, contentType = 'application/json', body } = answer;
  res.statusCode = status;
  res.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headers ?? {})) {
    // CORS may have said `Vary: Origin` already.
    if (name === 'Vary' && res.hasHeader('Vary')) res.vary(String(value));
    else if (value !== undefined) res.setHeader(name, String(value));
  }
  if (body === undefined) return send(req, res);
  const type = contentType === 'application/json' ? contentType : `${contentType}; charset=utf-8`;
  res.setHeader('Content-Type', type);
  await send(req, res, typeof body === 'string' ? body : JSON.stringify(body));
}

export async function sendProblem(req: Request, res: Response, error: ApiError): Promise<void> {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  for (const name of ofFailedAnswer) res.removeHeader(name);
  res.locals.code = error.code;
  const problem = toProblem(error, res.locals.requestId);
  res.statusCode = error.status;
  res.statusMessage = problem.title;
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Type', 'application/problem+json');
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  await send(req, res, JSON.stringify(problem));
}

async function send(req: Request, res: Response, body?: string): Promise<void> {
  res.locals.answeredAt = performance.now();
  if (body === undefined) endAnswer(req, res);
  else await sendBody(req, res, body);
}

/**
 * Sends a body. It is compressed when it is large and the client accepts that (RFC 9110, section 12.5.3). A long body
 * is sent piece by piece, so its length and a slow client block neither the event loop nor fill the memory.
 *
 * Only gzip at its cheapest level is used. It reduces a transcript to 0.37 of its size, with 0.3 MB of memory for each
 * answer. In the same time, zstd and brotli reduce it to 0.35 to 0.40, but need 1 MB or more. For a short body, the
 * check is one comparison.
 */

/** In characters. A shorter body fits into one or two packets anyway. */
const compressFrom = 2048;
/** In bytes. No write is longer, because a client at 16 KiB/s must take one write within 30 s (connections/limits.ts). */
const inPiecesFrom = 256 * 1024;
/** In characters, of up to three bytes each. */
const pieceLength = 64 * 1024;
const level = 1;
/** About 20 MB of memory. Beyond this number, an answer is sent uncompressed and does not wait for slow clients. */
const maxCompressing = 64;

let compressing = 0;

/**
 * Ends an answer. Its headers must be set, except those of the body's length and encoding.
 *
 * @returns when a body that is sent in pieces was sent, or its client has left
 */
export async function sendBody(req: Request, res: Response, text: string): Promise<void> {
  const isCompressible = text.length >= compressFrom;
  if (isCompressible) res.vary('Accept-Encoding');
  if (isCompressible && compressing < maxCompressing && prefersGzip(req) && !isBodyUnread(req)) {
    res.setHeader('Content-Encoding', 'gzip');
    if (req.method === 'HEAD') res.end();
    else await compress(res, text);
    return;
  }
  // Takes ms for a long text, so it is counted once.
  const length = Buffer.byteLength(text);
  res.setHeader('Content-Length', length);
  const isWhole = length < inPiecesFrom || req.method === 'HEAD' || isBodyUnread(req);
  // Node leaves the body out of the answer to HEAD.
  if (isWhole) endAnswer(req, res, text);
  else await whileClientListens(res, pipeline(piecesOf(text), res));
}

function prefersGzip(req: Request): boolean {
  const accepted = req.headers['accept-encoding'];
  if (accepted === undefined) return false;
  // RFC 9110, section 8.4.1.3: another name of the same.
  const name = /\bx-gzip\b/i.test(accepted) ? 'x-gzip' : 'gzip';
  return req.acceptsEncodings(name, 'identity') === name;
}

async function compress(res: Response, text: string): Promise<void> {
  compressing += 1;
  try {
    // Compression runs in the thread pool, no faster than the client reads.
    await whileClientListens(res, pipeline(piecesOf(text), createGzip({ level }), res));
  } finally {
    compressing -= 1;
  }
}

async function whileClientListens(res: Response, sent: Promise<void>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!res.closed) throw error;
  }
}

/** Cuts a text into pieces of UTF-8. Clients that read the same text share it; only pieces are copied. */
function piecesOf(text: string): Readable {
  return Readable.from(encodedPieces(text), { objectMode: false, highWaterMark: pieceLength });
}

function* encodedPieces(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length;) {
    const end = start + pieceLength;
    // A character outside of the basic plane has two halves. It must not be cut between them.
    const isCut = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const piece = text.slice(start, isCut ? end + 1 : end);
    yield Buffer.from(piece);
    start += piece.length;
  }
}
