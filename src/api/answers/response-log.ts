/** One log line and one count per request. */
import type { Request } from 'express';
import type { Foundation } from '../../context.ts';
import type { Response } from '../response.ts';

export function watchResponse(req: Request, res: Response, { log, metrics }: Foundation): void {
  const began = performance.now();
  res.once('close', () => {
    const operation = res.locals.operation ?? 'none';
    const { code } = res.locals;
    // A client that left got no answer.
    const status = res.headersSent ? res.statusCode : 'none';
    metrics.requests.inc({ operation, status });
    if (code !== undefined) metrics.refusals.inc({ code });
    log.info(
      {
        requestId: res.locals.requestId,
        method: req.method,
        operation,
        status,
        code,
        accountId: res.locals.accountId,
        ms: Math.round(performance.now() - began),
      },
      'request',
    );
  });
}
