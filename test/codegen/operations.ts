/** What must not compile: `npm run typecheck` fails on an expected error that does not come. */
import { handlers } from '../../handlers/index.ts';
import type { Answer } from '../../codegen/operations.ts';
import type { Handler, Handlers } from '../../src/api/handler.ts';

const problem = { type: 'about:blank', title: 'x', status: 404, code: 'x' };

// @ts-expect-error a handler is missing
export const incomplete: Handlers = { getSession: handlers.getSession };

export const undeclaredStatus: Answer<'getSession'> = {
  // @ts-expect-error 418 is not declared
  status: 418,
  contentType: 'application/problem+json',
  body: problem,
};

export const wrongType: Answer<'getSession'> = {
  status: 200,
  // @ts-expect-error a number where a string is declared
  body: { id: 'x', status: 'queued', title: 5, createdAt: 'x' },
};

export const undeclaredField: Answer<'getSession'> = {
  status: 200,
  // @ts-expect-error an undeclared field
  body: { id: 'x', status: 'queued', title: 'x', createdAt: 'x', owner: 'x' },
};

// @ts-expect-error the required header Location is missing
export const missingHeader: Answer<'createTranscription'> = {
  status: 202,
  headers: { 'Retry-After': 2 },
  body: { sessionId: 'x', jobId: 'x', status: 'queued' },
};

export const undeclaredHeader: Answer<'getSession'> = {
  status: 200,
  // @ts-expect-error an undeclared header
  headers: { ETag: 'x' },
  body: { id: 'x', status: 'queued', title: 'x', createdAt: 'x' },
};

// @ts-expect-error openapi.json needs no key, so its handler has no principal
export const publicHandler: Handler<'getOpenApi'> = async ({ principal }) => ({ status: 200, principal });

// @ts-expect-error a handler of an operation without a form gets none
export const formlessHandler: Handler<'getSession'> = async ({ body }) => ({ status: 200, body });
