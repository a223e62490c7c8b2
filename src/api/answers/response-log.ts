/** One log line and one count per request, and a span where somebody traces it. */
import type { Request } from 'express';
import type { Foundation } from '../../context.ts';
import type { TraceSpan } from '../../tracing/span.ts';
import type { Response } from '../response.ts';

export function watchResponse(req: Request, res: Response, { log, metrics, tracing }: Foundation): void {
  const began = performance.now();
  const traceparent = req.headers['traceparent'] as string | undefined;
  if (traceparent !== undefined || tracing.isCollected)
    res.locals.span = tracing.begin('request', 'server', traceparent);
  res.once('close', () => {
    const operation = res.locals.operation ?? 'none';
    const { code, span } = res.locals;
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
        ...span?.ids,
      },
      'request',
    );
    if (span !== undefined) endSpan(span, req, res);
  });
}

function endSpan(span: TraceSpan, { method }: Request, { headersSent, statusCode, locals }: Response): void {
  span.rename(locals.operation ?? 'none');
  span.set({ 'http.request.method': method, 'transcription.request': locals.requestId });
  if (headersSent) span.set({ 'http.response.status_code': statusCode });
  span.end(statusCode >= 500 ? locals.code : undefined);
}
