import { retryOfProblem } from '../../codegen/retries.ts';
import type { Retry } from '../../codegen/retries.ts';

const table: Readonly<Record<string, Retry>> = retryOfProblem;

/**
 * What the contract says about repeating a request.
 *
 * @param code of the problem; undefined when it was not the service that answered
 */
export function retryOf(status: number, code: string | undefined, hasRetryAfter: boolean): Retry {
  if (code === undefined)
    return status === 429 ? 'later' : status === 408 || status >= 500 ? 'same_key' : 'change_request';
  return table[code] ?? (hasRetryAfter ? 'later' : 'change_request');
}
