/**
 * Follows an upload from its request to its worker and to its recognizer. Without a collector nothing is recorded, and
 * the client's `traceparent` is passed on as it came. With one, each piece of work becomes a span (OpenTelemetry), sent
 * in batches beside the work: OTLP over HTTP, as JSON. Spans hold ids, numbers and words of ours: no title, no file
 * name, no key, nothing that was said.
 */
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  defaultTextMapGetter,
  defaultTextMapSetter,
  isSpanContextValid,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { withTimeout } from '../concurrency/with-timeout.ts';
import type { Context, Span as TraceSpan, SpanOptions } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../ops/log.ts';

export { SpanKind };
export type { TraceSpan };

/** A process has 25 s to stop, of which its requests may take 15, and the queue 5 at the same time as this. */
const longestFlushMs = 3_000;

/** W3C Trace Context. A header that can't be understood begins a new trace (section 3.2). */
const propagator = new W3CTraceContextPropagator();

/**
 * Sends spans to a collector from now on. They are those of the whole process, as OpenTelemetry has it.
 *
 * @param endpoint an address to which `/v1/traces` is added; without one, nothing is sent
 * @returns sends the spans that ended, within seconds or not at all
 */
export async function collectSpans(endpoint: string | undefined, log: Log): Promise<() => Promise<void>> {
  if (endpoint === undefined) return async () => {};
  // Loaded only for tracing.
  const [{ OTLPTraceExporter }, { BatchSpanProcessor, TracerProvider }, resources] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': 'transcription' }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: complainingOnce(exporter, log) })],
  });
  trace.setGlobalTracerProvider(provider);
  return async () => {
    trace.disable();
    await withTimeout(provider.shutdown(), longestFlushMs, undefined);
  };
}

/** @param parent a span, or the header `traceparent` of the request that asks for the work */
export function beginSpan(name: string, options: SpanOptions, parent: TraceSpan | string | undefined): TraceSpan {
  return trace.getTracer('transcription').startSpan(name, options, contextOf(parent));
}

function contextOf(parent: TraceSpan | string | undefined): Context {
  if (typeof parent === 'object') return trace.setSpan(ROOT_CONTEXT, parent);
  return propagator.extract(ROOT_CONTEXT, { traceparent: parent }, defaultTextMapGetter);
}

/** The header `traceparent` of what goes on with the work; undefined where it belongs to no trace. */
export function traceparentOf(span: TraceSpan): string | undefined {
  const headers: { traceparent?: string } = {};
  propagator.inject(contextOf(span), headers, defaultTextMapSetter);
  return headers.traceparent;
}

/** For lines of the log. */
export function idsOf(span: TraceSpan): { trace_id?: string; span_id?: string } {
  const context = span.spanContext();
  return isSpanContextValid(context) ? { trace_id: context.traceId, span_id: context.spanId } : {};
}

/** Does `work`, and ends its span with it. */
export async function inSpan<T>(span: TraceSpan, work: (span: TraceSpan) => Promise<T>): Promise<T> {
  try {
    const result = await work(span);
    endSpan(span);
    return result;
  } catch (error) {
    endSpan(span, Error.isError(error) ? error.name : 'unknown');
    throw error;
  }
}

/** @param fault the kind of error with which the work ended, never what an error says */
export function endSpan(span: TraceSpan, fault?: string): void {
  if (fault !== undefined) span.setAttribute('error.type', fault).setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** A collector that is away is said once, and once more when it has been back meanwhile. Its spans are lost. */
function complainingOnce(exporter: SpanExporter, log: Log): SpanExporter {
  let isAway = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !isAway)
          log.warn({ err: result.error }, 'spans can not be sent to OTEL_EXPORTER_OTLP_ENDPOINT, and are lost');
        isAway = failed;
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
