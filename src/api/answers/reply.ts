/** Writing answers: what a handler returned, or the problem that stopped it. */
import { endAnswer } from './refusal.ts';
import { sendBody } from './body.ts';
import { toProblem } from './problem.ts';
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
