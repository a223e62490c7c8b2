/** Writing answers: what a handler returned, or the problem that stopped it. */
import { violations } from '../contract/checker.ts';
import { endAnswer } from './refusal.ts';
import { sendBody } from './body.ts';
import { ApiError, toProblem } from './problem.ts';
import type { Request } from 'express';
import type { Log } from '../../ops/log.ts';
import type { Response } from '../response.ts';

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

export class Reply {
  readonly #log: Log;
  readonly #validate: boolean;

  /** @param validate whether answers that break the contract become a logged 500 */
  constructor(log: Log, validate: boolean) {
    this.#log = log;
    this.#validate = validate;
  }

  /** @returns when a long body was sent */
  async answer(req: Request, res: Response, answer: AnyAnswer): Promise<void> {
    const { status, headers, contentType = 'application/json', body } = answer;
    res.statusCode = status;
    res.setHeader('Cache-Control', 'no-store');
    for (const [name, value] of Object.entries(headers ?? {})) {
      // CORS may have said `Vary: Origin` already.
      if (name === 'Vary' && res.hasHeader('Vary')) res.vary(String(value));
      else if (value !== undefined) res.setHeader(name, String(value));
    }
    if (body === undefined) return this.#end(req, res);
    const type = contentType === 'application/json' ? contentType : `${contentType}; charset=utf-8`;
    res.setHeader('Content-Type', type);
    await this.#end(req, res, typeof body === 'string' ? body : JSON.stringify(body));
  }

  async problem(req: Request, res: Response, error: ApiError): Promise<void> {
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
    await this.#end(req, res, JSON.stringify(problem));
  }

  async #end(req: Request, res: Response, body?: string): Promise<void> {
    const faults = this.#validate ? faultsOf(req, res, body) : [];
    if (faults.length > 0) {
      this.#log.error(
        { requestId: res.locals.requestId, status: res.statusCode, faults },
        'an answer breaks the contract',
      );
      const detail = `The answer breaks the contract: ${faults.join('; ')}.`;
      if (res.statusCode !== 500) return this.problem(req, res, new ApiError(500, 'internal_error', detail));
    }
    res.locals.answeredAt = performance.now();
    if (body === undefined) endAnswer(req, res);
    else await sendBody(req, res, body);
  }
}

function faultsOf(req: Request, res: Response, body = ''): string[] {
  const headers = Object.fromEntries(Object.entries(res.getHeaders()).map(([name, value]) => [name, String(value)]));
  const text = req.method === 'HEAD' ? '' : body;
  return violations({ method: req.method, path: req.path, status: res.statusCode, headers, text });
}
