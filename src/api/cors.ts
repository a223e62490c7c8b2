/** Which pages of other origins may call the API from a browser (Fetch standard, section 3.2): what the contract declares. */
import cors from 'cors';
import { contract, resolve } from './contract/document.ts';
import type { RequestHandler } from 'express';
import type { Json } from './contract/document.ts';

/** A page may read these without being told (Fetch standard, "CORS-safelisted response-header name"). */
const readableAnyway = ['Cache-Control', 'Content-Language', 'Content-Length', 'Content-Type', 'Expires', 'Pragma'];
/** OpenAPI has no parameters of these names: they follow from security, media types of answers, and of the form. */
const sentAnyway = ['Accept', 'Authorization', 'Content-Type'];

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
 * Sets the headers of CORS, also on the answer to OPTIONS. That answer is left to the app: cors would read a body without
 * end before it.
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
