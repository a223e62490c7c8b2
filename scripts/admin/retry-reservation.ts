import { availableMs, reservationFor } from '../../src/sessions/balance.ts';
import { formatDuration } from './durations.ts';
import { Refusal } from './refusal.ts';
import type { AccountInForce } from '../../db/accounts.ts';

/**
 * What a retried session reserves, in ms: the rules of a new upload.
 *
 * @param durationMs measured at the upload, null when it could not be measured
 * @throws {Refusal} when the account would not be allowed to upload this audio now
 */
export function retryReservation(account: AccountInForce, durationMs: number | null): number {
  const { id, plan, eligible, suspended_at, max_audio_ms } = account;
  if (!eligible)
    throw new Refusal(`Its account ${id} is on the plan ${plan}, which may not transcribe: see accounts set-plan.`);
  if (suspended_at !== null) throw new Refusal(`Its account ${id} is suspended: see accounts resume.`);
  if (durationMs !== null && durationMs > max_audio_ms) {
    const [longest, length] = [max_audio_ms, durationMs].map(formatDuration);
    throw new Refusal(
      `The audio is ${length} long, its account ${id} may have ${longest}: see accounts set-limits --max-audio.`,
    );
  }
  const reservedMs = reservationFor(account, durationMs);
  if (reservedMs !== undefined) return reservedMs;
  const needed = durationMs === null ? '' : `, the audio needs ${formatDuration(durationMs)}`;
  const available = formatDuration(availableMs(account));
  throw new Refusal(`Its account ${id} has ${available} available${needed}: see balance credit.`);
}
