/** One log line, one count and one latency per request, and a span where somebody traces it. */
import { loggedAddress } from './logged-address.ts';
import type { Request } from 'express';
import type { Foundation } from '../../sessions/foundation.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { TraceSpan } from '../../tracing/span.ts';
import type { Response } from '../response.ts';

export function watchResponse(req: Request, res: Response, { config, log, metrics, tracing }: Foundation): void {
  const began = performance.now();
  res.locals.waitsSince = began;
  metrics.requestsInFlight.inc();
  // Once the client has left, its connection names no address any more.
  const address = loggedAddress(req.ip, config.logAddresses);
  const traceparent = req.headers['traceparent'] as string | undefined;
  if (traceparent !== undefined || tracing.isCollected)
    res.locals.span = tracing.begin('request', 'server', traceparent);
  res.once('close', () => {
    const operation = res.locals.operation ?? 'none';
    const { code, accountId, keyId, sessionId, span } = res.locals;
    // A client that left got no answer.
    const status = res.headersSent ? res.statusCode : 'none';
    metrics.requests.inc({ operation, status });
    metrics.requestsInFlight.dec();
    observeLatency(res, metrics);
    if (code !== undefined) metrics.refusals.inc({ code });
    log.info(
      {
        requestId: res.locals.requestId,
        method: req.method,
        operation,
        status,
        code,
        accountId,
        keyId,
        sessionId,
        address,
        ms: Math.round(performance.now() - began),
        ...span?.ids,
      },
      'request',
    );
    if (span !== undefined) endSpan(span, req, res);
  });
}

/** Of what the service does: neither an upload nor a transcript is faster than its client. */
function observeLatency({ headersSent, statusCode, locals }: Response, metrics: Metrics): void {
  const { operation, waitsSince, answeredAt = performance.now(), query } = locals;
  if (operation === undefined || waitsSince === undefined) return;
  const seconds = (answeredAt - waitsSince) / 1000;
  if (Number(query?.['wait']) > 0) return metrics.waits.observe(seconds);
  const status = headersSent ? `${Math.floor(statusCode / 100)}xx` : 'none';
  metrics.latency.observe({ operation, status }, seconds);
}

function endSpan(span: TraceSpan, { method }: Request, { headersSent, statusCode, locals }: Response): void {
  span.rename(locals.operation ?? 'none');
  span.set({ 'http.request.method': method, 'transcription.request': locals.requestId });
  if (headersSent) span.set({ 'http.response.status_code': statusCode });
  span.end(statusCode >= 500 ? locals.code : undefined);
}
