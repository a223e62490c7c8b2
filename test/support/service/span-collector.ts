/** Receives spans as an OpenTelemetry collector does: OTLP over HTTP, as JSON. */
import { text } from 'node:stream/consumers';
import { serve } from '../serve.ts';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  kind: number;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Export {
  resourceSpans: { resource: object; scopeSpans: { spans: ReceivedSpan[] }[] }[];
}

export interface SpanCollector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  /** What came, as text. */
  bodies: string[];
  spans(): ReceivedSpan[];
  close(): Promise<void>;
}

export async function startSpanCollector(): Promise<SpanCollector> {
  const bodies: string[] = [];
  const { url, close } = await serve((req, res) => {
    void text(req).then((body) => {
      const isExport = req.method === 'POST' && req.url === '/v1/traces';
      if (isExport && req.headers['content-type'] === 'application/json') bodies.push(body);
      res.writeHead(isExport ? 200 : 404, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  return {
    ...{ url, bodies, close },
    spans: () =>
      bodies
        .flatMap((body) => (JSON.parse(body) as Export).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  };
}
