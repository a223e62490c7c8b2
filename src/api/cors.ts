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
/**
 * Headers that are no parameters in OpenAPI. They follow from `security` and from the media types of answers and of the
 * form. `Traceparent` belongs to HTTP clients that trace what they send (W3C Trace Context).
 */
const sentAnyway = ['Accept', 'Authorization', 'Content-Type', 'Traceparent'];

interface Operation {
  method: string;
  parameters?: Json[];
  responses: Record<string, Json>;
}

const paths = Object.values(contract.paths as unknown as Record<string, Record<string, Operation>>);
const operations = paths.flatMap((path) =>
  Object.entries(path).map(([method, operation]) => ({ ...operation, method })),
);

const methods = operations.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));

const allowedHeaders = operations
  .flatMap(({ parameters = [] }) => parameters.map(resolve) as unknown as { in: string; name: string }[])
  .flatMap(({ in: place, name }) => (place === 'header' ? [name] : []));

const exposedHeaders = operations
  .flatMap(({ responses }) => Object.values(responses).map(resolve))
  .flatMap(({ headers = {} }) => Object.keys(headers))
  .filter((name) => !readableAnyway.includes(name));

/**
 * Sets the headers of CORS, also for OPTIONS. The app answers OPTIONS itself, because cors would read a body without
 * end first.
 *
 * @param origins that may call
 */
export function allowOrigins(origins: string[]): RequestHandler {
  return cors({
    origin: origins,
    methods: distinct(methods),
    allowedHeaders: distinct([...sentAnyway, ...allowedHeaders]),
    exposedHeaders: distinct(exposedHeaders),
    preflightContinue: true,
    maxAge: 600,
  });
}

const distinct = (names: string[]): string[] => [...new Set(names)];
