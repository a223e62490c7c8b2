/** An account as support sees it. */
import { rfc3339 } from '../../db/connection/values.ts';
import { availableMs } from '../../src/sessions/balance.ts';
import { formatDuration } from './durations.ts';
import { jsonLimits, limitNames, shownLimit } from './limits.ts';
import { count, details, momentOf } from '../terminal/table.ts';
import type { Account } from '../../db/accounts/accounts.ts';
import type { Limits, PlanTable } from '../../db/schema.ts';

export const statusOf = (account: Account): 'active' | 'suspended' | 'deleted' =>
  account.deleted_at !== null ? 'deleted' : account.suspended_at !== null ? 'suspended' : 'active';

/** What every answer about a balance contains. */
export function balanceJson(account: Account) {
  return {
    id: account.id,
    name: account.name,
    balanceMs: account.balance_ms,
    reservedMs: account.reserved_ms,
    availableMs: availableMs(account),
  };
}

/** With the limits of the account, and the names of those limits that are its own and not its plan's. */
export function accountJson(account: Account, plan: PlanTable) {
  return {
    ...balanceJson(account),
    plan: account.plan,
    status: statusOf(account),
    ...jsonLimits(limitsInForce(account, plan)),
    overrides: limitNames.filter(({ column }) => account[column] !== null).map(({ json }) => json),
    ...(account.retention_days !== null && { retentionDays: account.retention_days }),
    createdAt: rfc3339(account.created_at),
    ...(account.suspended_at !== null && { suspendedAt: rfc3339(account.suspended_at) }),
    ...(account.deleted_at !== null && { deletedAt: rfc3339(account.deleted_at) }),
  };
}

export function accountText(account: Account, plan: PlanTable): string {
  const inForce = limitsInForce(account, plan);
  const limits = limitNames.map((limit): [string, string] => {
    const value = shownLimit(limit, inForce[limit.column]);
    return [
      limit.label,
      account[limit.column] === null
        ? value
        : `${value} (its own; the plan says ${shownLimit(limit, plan[limit.column])})`,
    ];
  });
  return details({
    Account: account.id,
    Name: nameOf(account),
    Plan: plan.eligible ? plan.plan : `${plan.plan} (may not use the API)`,
    Status: statusOf(account),
    ...balanceEntries(account),
    ...Object.fromEntries(limits),
    Retention: account.retention_days === null ? 'sessions are kept' : count(account.retention_days, 'day'),
    Created: momentOf(account.created_at),
    Suspended: momentOf(account.suspended_at),
    Deleted: momentOf(account.deleted_at),
  });
}

export const balanceEntries = (account: Account) => ({
  Balance: formatDuration(account.balance_ms),
  Reserved: formatDuration(account.reserved_ms),
  Available: formatDuration(availableMs(account)),
});

export const nameOf = ({ name, deleted_at }: Pick<Account, 'name' | 'deleted_at'>): string =>
  deleted_at === null ? name : '(erased)';

function limitsInForce(account: Account, plan: PlanTable): Limits {
  return {
    requests_per_minute: account.requests_per_minute ?? plan.requests_per_minute,
    queued_sessions: account.queued_sessions ?? plan.queued_sessions,
    running_jobs: account.running_jobs ?? plan.running_jobs,
    max_upload_bytes: account.max_upload_bytes ?? plan.max_upload_bytes,
    max_audio_ms: account.max_audio_ms ?? plan.max_audio_ms,
  };
}
