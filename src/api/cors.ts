/**
 * Lets pages of other origins call the API from a browser (Fetch standard, section 3.2). What they may send and read is
 * what the contract declares.
 */
import cors from 'cors';
import { contract, resolve } from './contract/document.ts';
import type { RequestHandler } from 'express';
import type { Json } from './contract/document.ts';

/** Headers that a page may always read (Fetch standard, "CORS-safelisted response-header name"). */
const readableAnyway = ['Cache-Control', 'Content-Language', 'Content-Length', 'Content-Type', 'Expires', 'Pragma'];
/** The last belongs to HTTP clients that trace what they send (W3C Trace Context). */
const sent = ['Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match', 'Traceparent'];

const paths = contract.paths as unknown as Record<string, Record<string, { responses: Record<string, Json> }>>;
const declared = Object.values(paths)
  .flatMap((path) => Object.values(path).flatMap(({ responses }) => Object.values(responses)))
  .flatMap((answer) => Object.keys(resolve(answer).headers ?? {}));

/**
 * Sets the headers of CORS, also for OPTIONS. The app answers OPTIONS itself, because cors would read a body without
 * end first.
 *
 * @param origins that may call
 */
export function allowOrigins(origins: string[]): RequestHandler {
  return cors({
    origin: origins,
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: sent,
    exposedHeaders: [...new Set(declared)].filter((name) => !readableAnyway.includes(name)),
    preflightContinue: true,
    maxAge: 600,
  });
}
