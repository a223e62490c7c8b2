import type { TraceSpan } from '../tracing/tracing.ts';
import type { Response as ExpressResponse } from 'express';

/** What becomes known of a request on its way. Later checks, the problem that ends it, and the log use it. */
export interface ResponseLocals {
  requestId: string;
  /** Since when the client waits for us (`performance.now`): for an upload from its last byte, so undefined while it comes. */
  waitsSince?: number | undefined;
  /** When the answer was ready. How long it takes to send is the client's affair. */
  answeredAt?: number;
  /** The operation of the contract; absent where the path or the method is unknown. */
  operation?: string | undefined;
  /** As the client sent it. Validation coerces a copy. */
  query?: Readonly<Record<string, string | string[]>>;
  /** The account of the key that was sent, and the key's id. */
  accountId?: string;
  keyId?: string;
  /** The session of the path, or of the 202. */
  sessionId?: string;
  /** Rejects when the allowance does not admit the request. No answer is sent before it resolves. */
  counted?: Promise<void>;
  /** The code of the problem that was answered. */
  code?: string;
  /** Of the request's trace. Without a collector it records nothing. */
  span: TraceSpan;
}

/** Express' response, whose `locals` are typed. */
export type Response = ExpressResponse<unknown, ResponseLocals>;
