import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { changeReserved } from '../../db/accounts/accounts.ts';
import { setReservationIfProcessing } from '../../db/sessions/attempts.ts';
import { availableMs } from '../sessions/balance.ts';
import { ClaimLost, NotCovered } from './outcomes.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';

/**
 * How much longer than its reservation decoded audio may be before the balance is looked at again: 1 % and one second,
 * but never more than the reservation itself. Without that bound, a balance of 1 ms would pay for any number of files
 * that measure about 0 ms.
 */
const toleranceMs = (reservedMs: number) => Math.min(reservedMs, reservedMs * 0.01 + 1000);

/**
 * Makes sure that the decoded duration is reserved before anything is recognized.
 *
 * @returns what is reserved now, in ms
 * @throws {NotCovered} nothing was changed
 * @throws {ClaimLost} nothing was changed
 */
export async function coverDecoded(db: Db, attempt: Attempt, reservedMs: number, decodedMs: number): Promise<number> {
  if (decodedMs <= reservedMs + toleranceMs(reservedMs)) return reservedMs;
  const missingMs = decodedMs - reservedMs;
  await inAccountTransaction(db, attempt.accountId, async (trx, account) => {
    if (account === undefined || !(await setReservationIfProcessing(trx, attempt, decodedMs))) throw new ClaimLost();
    if (availableMs(account) < missingMs) throw new NotCovered();
    await changeReserved(trx, attempt.accountId, missingMs);
  });
  return decodedMs;
}
