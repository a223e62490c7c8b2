/** Spans for a collector: OTLP over HTTP, as JSON, sent in batches beside the work. */
import { ROOT_CONTEXT, SpanKind as Kind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { inTime } from '../concurrency/in-time.ts';
import { readTraceparent } from './trace-context.ts';
import { spanIds } from './span.ts';
import type { Context, Span as CollectedSpan, Tracer } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../ops/log.ts';
import type { Attributes, TraceSpan, SpanKind, Tracing } from './span.ts';

/** A process has 25 s to stop, of which its requests may take 15, and the queue 5 at the same time as this. */
const longestFlushMs = 3_000;

const kinds: Record<SpanKind, Kind> = {
  server: Kind.SERVER,
  consumer: Kind.CONSUMER,
  client: Kind.CLIENT,
  internal: Kind.INTERNAL,
};

export function collectedAt(endpoint: string, log: Log): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'transcription' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: complainingOnce(exporter, log) })],
  });
  const tracer = provider.getTracer('transcription');
  return {
    isCollected: true,
    begin: (name, kind, traceparent, attributes) => started(tracer, contextOf(traceparent), name, kind, attributes),
    async close() {
      await inTime(provider.shutdown(), longestFlushMs, undefined);
    },
  };
}

function contextOf(traceparent: string | undefined): Context {
  const asked = readTraceparent(traceparent);
  if (asked === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = asked;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function started(
  tracer: Tracer,
  parent: Context,
  name: string,
  kind: SpanKind,
  attributes: Attributes = {},
): TraceSpan {
  const span: CollectedSpan = tracer.startSpan(name, { kind: kinds[kind], attributes }, parent);
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    ...spanIds({ traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 }),
    child: (name, kind, attributes) => started(tracer, trace.setSpan(ROOT_CONTEXT, span), name, kind, attributes),
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(attributes),
    end(fault) {
      if (fault !== undefined) span.setAttribute('error.type', fault).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** A collector that is away is said once, and once more when it has been back meanwhile. Its spans are lost. */
function complainingOnce(exporter: SpanExporter, log: Log): SpanExporter {
  let isAway = false;
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        const failed = code !== ExportResultCode.SUCCESS;
        if (failed && !isAway)
          log.warn({ err: error }, 'spans can not be sent to OTEL_EXPORTER_OTLP_ENDPOINT, and are lost');
        isAway = failed;
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
