/** Writing answers: what a handler returned, or the problem that stopped it. */
import { endRefusal } from './refusal.ts';
import { toProblem } from '../problem.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiError } from '../problem.ts';

/** Any operation's answer, as the app sees it. */
export interface AnyAnswer {
  status: number;
  headers?: Record<string, unknown>;
  contentType?: string;
  body?: unknown;
}

export function sendAnswer(res: ServerResponse, answer: AnyAnswer): void {
  res.statusCode = answer.status;
  res.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    if (value !== undefined) res.setHeader(name, String(value));
  }
  if (answer.body === undefined) {
    res.end();
    return;
  }
  const type = answer.contentType ?? 'application/json';
  const body = Buffer.from(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  res.setHeader('Content-Type', type === 'application/json' ? type : `${type}; charset=utf-8`);
  res.setHeader('Content-Length', body.length);
  res.end(body);
}

export function sendProblem(req: IncomingMessage, res: ServerResponse, error: ApiError, requestId: string): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const body = Buffer.from(JSON.stringify(toProblem(error, requestId)));
  res.statusCode = error.status;
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Type', 'application/problem+json');
  res.setHeader('Content-Length', body.length);
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  endRefusal(req, res, body);
}
