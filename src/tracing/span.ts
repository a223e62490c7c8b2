/** What the service knows of spans, whoever collects them. */
import { toTraceparent } from './trace-context.ts';
import type { TraceContext } from './trace-context.ts';

export type Attributes = Record<string, string | number>;
export type SpanKind = 'server' | 'consumer' | 'client' | 'internal';

/** A timed piece of work in a trace. */
export interface TraceSpan {
  /** For lines of the log. */
  readonly ids: { trace_id: string; span_id: string };
  /** For whoever goes on with the work: the value of the header of this name. */
  readonly traceparent: string;
  child(name: string, kind: SpanKind, attributes?: Attributes): TraceSpan;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** @param fault the kind of error with which it ended, never what an error says */
  end(fault?: string): void;
}

export interface Tracing {
  /** Whether somebody collects spans. If not, work that belongs to no upload needs none. */
  readonly isCollected: boolean;
  /** @param traceparent what whoever asked for the work sent. Without it, and where it is malformed, a new trace begins */
  begin(name: string, kind: SpanKind, traceparent: string | undefined, attributes?: Attributes): TraceSpan;
  /** Sends the spans that ended, within seconds or not at all. */
  close(): Promise<void>;
}

/** Does `work`, and ends its span with it. */
export async function within<T, Span extends TraceSpan | undefined>(
  span: Span,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  try {
    const result = await work(span);
    span?.end();
    return result;
  } catch (error) {
    span?.end(faultOf(error));
    throw error;
  }
}

const faultOf = (error: unknown): string => (Error.isError(error) ? error.name : 'unknown');

export const spanIds = (context: TraceContext): Pick<TraceSpan, 'ids' | 'traceparent'> => ({
  ids: { trace_id: context.traceId, span_id: context.spanId },
  traceparent: toTraceparent(context),
});
