import { clientLeft } from '../connections/client-left.ts';
import type { Response } from 'express';

/**
 * The input of handlers that read. Its signal is made when it is first used, because it costs 8 µs and few requests
 * wait. It is a class: for a getter in an object literal, V8 makes a hidden class each time, which keeps the request in
 * memory until a full collection.
 */
export class ReadingInput {
  readonly path: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly principal: unknown;
  readonly #stopping: AbortSignal;
  readonly #res: Response;
  readonly #whileAllowed: (end: AbortSignal) => AbortSignal;
  #signal?: AbortSignal;

  /** @param whileAllowed aborts when the key of the request has lost its right, until `end` */
  constructor(
    { path, query, headers, principal }: Record<string, unknown>,
    stopping: AbortSignal,
    res: Response,
    whileAllowed: (end: AbortSignal) => AbortSignal,
  ) {
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.principal = principal;
    this.#stopping = stopping;
    this.#res = res;
    this.#whileAllowed = whileAllowed;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= this.#makeSignal());
  }

  #makeSignal(): AbortSignal {
    const left = clientLeft(this.#res);
    return AbortSignal.any([this.#stopping, left, this.#whileAllowed(left)]);
  }
}
