import type { AccountWithLimits } from '../../db/accounts/accounts.ts';

/** The balance less what is reserved, in ms; may be negative. */
export const availableMs = (account: Pick<AccountWithLimits, 'balance_ms' | 'reserved_ms'>): number =>
  account.balance_ms - account.reserved_ms;

/**
 * How much of the account's balance a queued session reserves, in ms: its duration. When the duration is unknown, it is
 * the longest audio that the account may upload, or all that is available if that is less.
 *
 * @param durationMs measured at the upload; null when it could not be measured
 * @returns undefined when the balance does not cover the session
 */
export function reservationFor(
  account: Pick<AccountWithLimits, 'balance_ms' | 'reserved_ms' | 'max_audio_ms'>,
  durationMs: number | null,
): number | undefined {
  const available = availableMs(account);
  if (available <= 0 || available < (durationMs ?? 0)) return undefined;
  return durationMs ?? Math.min(account.max_audio_ms, available);
}
