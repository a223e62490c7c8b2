/** One log line, one count, one latency and, with tracing, one span per request. */
import { isIP } from 'node:net';
import { SpanKind, beginSpan, endSpan, idsOf } from '../../tracing/tracing.ts';
import { plainAddress, prefixOf } from '../access/networks.ts';
import type { Request } from 'express';
import type { Config } from '../../config/config.ts';
import type { AppContext } from '../../sessions/app-context.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Response } from '../response.ts';

export function watchResponse(req: Request, res: Response, { config, log, metrics }: AppContext): void {
  const began = performance.now();
  res.locals.waitsSince = began;
  metrics.requestsInFlight.inc();
  // Once the client has left, its connection names no address any more.
  const address = loggedAddress(req.ip, config.logAddresses);
  const traceparent = req.headers['traceparent'] as string | undefined;
  res.locals.span = beginSpan('request', { kind: SpanKind.SERVER }, traceparent);
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
        ...idsOf(span),
      },
      'request',
    );
    endSpanOf(req, res);
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

function endSpanOf({ method }: Request, { headersSent, statusCode, locals }: Response): void {
  const { span, operation, requestId, code } = locals;
  span.updateName(operation ?? 'none');
  span.setAttributes({ 'http.request.method': method, 'transcription.request': requestId });
  if (headersSent) span.setAttribute('http.response.status_code', statusCode);
  endSpan(span, statusCode >= 500 ? code : undefined);
}

/** As much of a client's address as the log may name. Undefined for what a proxy sends in its place. */
export function loggedAddress(address: string | undefined, how: Config['logAddresses']): string | undefined {
  const plain = plainAddress(address ?? '');
  if (how === 'none' || isIP(plain) === 0) return undefined;
  return how === 'full' ? plain : prefixOf(plain);
}
