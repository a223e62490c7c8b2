import type { AccountInForce } from '../../db/accounts.ts';

/** The balance less what is reserved, in ms; may be negative. */
export const availableMs = (account: Pick<AccountInForce, 'balance_ms' | 'reserved_ms'>): number =>
  account.balance_ms - account.reserved_ms;
