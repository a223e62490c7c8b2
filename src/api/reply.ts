/** Writing answers: what a handler returned, or the problem that stopped it. */
import { violations } from './contract-checker.ts';
import { endAnswer } from './refusal.ts';
import { ApiError, toProblem } from '../problem.ts';
import type { Request, Response } from 'express';
import type { Log } from '../log.ts';

/** Any operation's answer, as the app sees it. */
export interface AnyAnswer {
  status: number;
  headers?: Record<string, unknown>;
  contentType?: string;
  body?: unknown;
}

export class Reply {
  readonly #log: Log;
  readonly #validate: boolean;

  /** @param validate whether answers that break the contract become a logged 500 */
  constructor(log: Log, validate: boolean) {
    this.#log = log;
    this.#validate = validate;
  }

  answer(req: Request, res: Response, { status, headers, contentType = 'application/json', body }: AnyAnswer): void {
    res.statusCode = status;
    res.setHeader('Cache-Control', 'no-store');
    for (const [name, value] of Object.entries(headers ?? {})) {
      // CORS may have said `Vary: Origin` already.
      if (name === 'Vary') res.vary(String(value));
      else if (value !== undefined) res.setHeader(name, String(value));
    }
    if (body === undefined) return this.#end(req, res);
    const type = contentType === 'application/json' ? contentType : `${contentType}; charset=utf-8`;
    res.setHeader('Content-Type', type);
    this.#end(req, res, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  }

  problem(req: Request, res: Response, error: ApiError): void {
    if (res.headersSent) {
      res.destroy();
      return;
    }
    res.locals.code = error.code;
    res.statusCode = error.status;
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Content-Type', 'application/problem+json');
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
    this.#end(req, res, Buffer.from(JSON.stringify(toProblem(error, res.locals.requestId as string))));
  }

  #end(req: Request, res: Response, body?: Buffer): void {
    if (body !== undefined) res.setHeader('Content-Length', body.length);
    const faults = this.#validate ? faultsOf(req, res, body) : [];
    if (faults.length === 0) return endAnswer(req, res, body);

    this.#log.error(
      { requestId: res.locals.requestId, status: res.statusCode, faults },
      'an answer breaks the contract',
    );
    if (res.statusCode === 500) return endAnswer(req, res, body);
    this.problem(
      req,
      res,
      new ApiError(500, 'internal_error', `The answer breaks the contract: ${faults.join('; ')}.`),
    );
  }
}

function faultsOf(req: Request, res: Response, body: Buffer | undefined): string[] {
  const headers = Object.fromEntries(Object.entries(res.getHeaders()).map(([name, value]) => [name, String(value)]));
  const text = req.method === 'HEAD' ? '' : (body?.toString() ?? '');
  return violations({ method: req.method, path: req.path, status: res.statusCode, headers, text });
}
