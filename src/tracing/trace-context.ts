/** Where a piece of work belongs in a trace, as requests say it to each other: W3C Trace Context, version 00. */
import { randomBytes } from 'node:crypto';

export interface TraceContext {
  /** 32 digits of lower-case hex, not all of them 0. */
  traceId: string;
  /** 16 digits of lower-case hex, not all of them 0. */
  spanId: string;
  /** Whether somebody may be recording this trace. */
  isSampled: boolean;
}

/** Section 3.2.2. A later version may add something after a further dash; version ff is none. */
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** @returns undefined where there is none, or where it can't be understood: then a new trace begins (section 3.2) */
export function readTraceparent(header: string | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, rest] = form.exec(header ?? '') ?? [];
  if (traceId === undefined || (version === '00' && rest !== undefined)) return undefined;
  return { traceId, spanId: spanId!, isSampled: (parseInt(flags!, 16) & 1) === 1 };
}

/** The value of the header `traceparent`. Flags that this version does not know are not passed on. */
export const toTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** A trace that nobody records. */
export const newTrace = (): TraceContext => ({
  traceId: randomBytes(16).toString('hex'),
  spanId: randomBytes(8).toString('hex'),
  isSampled: false,
});
