/** What can be wrong with an upload before its body is looked at, in the decided order of checks. */
import { makeAccount, makeKey } from '../service/accounts.ts';
import { suspendAccount } from '../../../db/accounts/accounts.ts';
import { formType } from './uploads.ts';
import type { TestAccount } from '../service/accounts.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { LimitOverrides } from '../../../db/schema.ts';

interface Fault {
  code: string;
  status: number;
  account?: { plan?: string; balanceMs?: number; limits?: Partial<LimitOverrides> };
  suspended?: true;
  readOnly?: true;
  headers?: Record<string, string | number>;
  /** Further fields of the problem. */
  details?: Record<string, unknown>;
}

const oneMiB = 1024 * 1024;

export const faults: Fault[] = [
  { code: 'unauthorized', status: 401, headers: { Authorization: 'Bearer tsk_wrong' } },
  { code: 'plan_not_eligible', status: 403, account: { plan: 'free' } },
  { code: 'account_suspended', status: 403, suspended: true },
  { code: 'rate_limited', status: 429, account: { limits: { requests_per_minute: 0 } } },
  { code: 'insufficient_scope', status: 403, readOnly: true, details: { requiredScope: 'write' } },
  {
    code: 'invalid_request',
    status: 400,
    headers: { 'Idempotency-Key': 'k'.repeat(256) },
    details: { errors: [{ in: 'header', name: 'Idempotency-Key', message: expect.any(String) }] },
  },
  { code: 'unsupported_media', status: 415, headers: { 'Content-Type': 'application/json' } },
  {
    code: 'file_too_large',
    status: 413,
    account: { limits: { max_upload_bytes: oneMiB } },
    details: { limitBytes: oneMiB },
  },
  { code: 'too_many_queued', status: 429, account: { limits: { queued_sessions: 0 } } },
  { code: 'insufficient_balance', status: 402, account: { balanceMs: 0 }, details: { availableMs: 0 } },
];

/** An account with these faults, and the headers of a request with them, which announce 64 MiB. */
export async function arrange(db: Db, ...chosen: Fault[]) {
  const limits = Object.assign({}, ...chosen.map(({ account }) => account?.limits)) as Partial<LimitOverrides>;
  const settings = Object.assign({}, ...chosen.map(({ account }) => account)) as Fault['account'];
  const account: TestAccount = await makeAccount(db, { ...settings, limits: { requests_per_minute: 100, ...limits } });
  if (chosen.some(({ suspended }) => suspended)) await suspendAccount(db, account.id);
  const readOnly = chosen.some((fault) => fault.readOnly);
  const { key } = readOnly ? await makeKey(db, account.id, { scopes: ['read'] }) : account;
  const headers: Record<string, string | number> = {
    ...{ Authorization: `Bearer ${key}`, 'Content-Type': formType, 'Content-Length': 64 * oneMiB },
    ...(Object.assign({}, ...chosen.map((fault) => fault.headers)) as Fault['headers']),
  };
  return { account, headers };
}
