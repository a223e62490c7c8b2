import { ApiError } from './problem.ts';
import type { AccountInForce } from '../db/accounts.ts';

/** The balance less what is reserved, in ms; may be negative. */
export const availableMs = (account: Pick<AccountInForce, 'balance_ms' | 'reserved_ms'>): number =>
  account.balance_ms - account.reserved_ms;

export function insufficientBalance(account: AccountInForce, requiredMs?: number): ApiError {
  return new ApiError(402, 'insufficient_balance', 'The transcription balance does not cover this audio.', {
    availableMs: availableMs(account),
    ...(requiredMs !== undefined && { requiredMs }),
  });
}
