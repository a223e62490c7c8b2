import type { Response as ExpressResponse } from 'express';

/** What becomes known of a request on its way, for the checks that follow, the problem that stops it, and the log. */
export interface ResponseLocals {
  requestId: string;
  /** Of the contract; absent where nothing is routed. */
  operation?: string | undefined;
  /** As it came: validation coerces a copy. */
  query?: Readonly<Record<string, string | string[]>>;
  /** Whose key was sent. */
  accountId?: string;
  /** Rejects when the allowance does not admit the request: nothing is answered before. */
  counted?: Promise<void>;
  /** Of the problem that it was answered with. */
  code?: string;
}

/** Express' response, whose `locals` are typed. */
export type Response = ExpressResponse<unknown, ResponseLocals>;
