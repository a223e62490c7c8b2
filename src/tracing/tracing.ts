/**
 * Follows an upload from its request to its worker and to its recognizer. Without a collector, ids are only passed on and
 * logged. With one, each piece of work becomes a span (OpenTelemetry). Spans hold ids, numbers and words of ours: no title,
 * no file name, no key, nothing that was said.
 */
import { spanIds } from './span.ts';
import { newTrace, readTraceparent } from './trace-context.ts';
import type { Log } from '../ops/log.ts';
import type { TraceSpan, Tracing } from './span.ts';
import type { TraceContext } from './trace-context.ts';

/** @param endpoint of a collector: an address to which `/v1/traces` is added */
export async function createTracing(endpoint: string | undefined, log: Log): Promise<Tracing> {
  // OpenTelemetry's packages are loaded only where somebody wants spans.
  return endpoint === undefined ? passOn : (await import('./collected.ts')).collectedAt(endpoint, log);
}

/** Says to whoever goes on what was said here: the trace has no gap where spans are not collected. */
const passOn: Tracing = {
  isCollected: false,
  begin: (_name, _kind, traceparent) => passedOn(readTraceparent(traceparent) ?? newTrace()),
  close: async () => {},
};

function passedOn(context: TraceContext): TraceSpan {
  const span: TraceSpan = {
    ...spanIds(context),
    child: () => span,
    rename() {},
    set() {},
    end() {},
  };
  return span;
}
