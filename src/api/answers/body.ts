/**
 * Sending a body: compressed when it is large and the client accepts it (RFC 9110, section 12.5.3), and a long one piece
 * by piece, so that neither the event loop nor the memory notices how long it is or how slowly it is read.
 *
 * Only gzip, at its cheapest level: of a transcript it leaves 0.37. zstd and brotli leave 0.35 to 0.40 for the same time,
 * but want a megabyte and more for each answer, gzip 0.3. A body below the threshold costs one comparison.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { endAnswer, isBodyUnread } from './refusal.ts';
import type { Request, Response } from 'express';

/** In characters: a shorter body fits into one or two packets anyway. */
const compressFrom = 2048;
/** In bytes. One write has to be taken within 30 s by a client that reads 16 KiB/s (slow-readers.ts), so none is longer. */
const inPiecesFrom = 256 * 1024;
/** In characters, of up to three bytes each. */
const pieceLength = 64 * 1024;
const level = 1;
/** Some 20 MB of compressors. An answer beyond them goes out as it is, instead of waiting for a client that reads slowly. */
const maxCompressing = 64;

let compressing = 0;

/**
 * Ends an answer whose headers are set, but for those of the body's length and encoding.
 *
 * @returns when a body that is sent in pieces is out, or its client has left
 */
export async function sendBody(req: Request, res: Response, text: string): Promise<void> {
  const isCompressible = text.length >= compressFrom;
  if (isCompressible) res.vary('Accept-Encoding');
  if (isCompressible && compressing < maxCompressing && prefersGzip(req) && !isBodyUnread(req)) {
    res.setHeader('Content-Encoding', 'gzip');
    if (req.method === 'HEAD') res.end();
    else await compress(res, text);
  } else if (Buffer.byteLength(text) < inPiecesFrom || req.method === 'HEAD' || isBodyUnread(req)) {
    const body = Buffer.from(text);
    res.setHeader('Content-Length', body.length);
    // Node leaves the body out of the answer to HEAD.
    endAnswer(req, res, body);
  } else {
    res.setHeader('Content-Length', Buffer.byteLength(text));
    await whileClientListens(res, pipeline(piecesOf(text), res));
  }
}

function prefersGzip(req: Request): boolean {
  return req.headers['accept-encoding'] !== undefined && req.acceptsEncodings('gzip', 'identity') === 'gzip';
}

async function compress(res: Response, text: string): Promise<void> {
  compressing += 1;
  try {
    // Works in the thread pool, and no faster than the client reads.
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

/** As UTF-8. All clients that read the same text share it: only pieces are copied. */
function piecesOf(text: string): Readable {
  return Readable.from(encodedPieces(text), { objectMode: false, highWaterMark: pieceLength });
}

function* encodedPieces(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length;) {
    const end = start + pieceLength;
    // Cut between its two halves, a character outside of the basic plane would be lost.
    const isCut = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const piece = text.slice(start, isCut ? end + 1 : end);
    yield Buffer.from(piece);
    start += piece.length;
  }
}
