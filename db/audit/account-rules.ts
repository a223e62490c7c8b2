/** What must hold of accounts and their keys. */
import { sql } from 'kysely';
import { byAccount } from './parts.ts';
import type { Rule } from './rule.ts';

export const accountRules: Rule[] = [
  {
    id: 'erased_is_gone',
    rule: 'Of an erased account nothing is left but amounts',
    cut: byAccount,
    looksAt: sql`accounts where deleted_at is not null`,
    broken: sql`select id from accounts a where deleted_at is not null and (
      name <> '' or exists (select from sessions s where s.account_id = a.id)
      or exists (select from api_keys k where k.account_id = a.id)
      or exists (select from idempotency i where i.account_id = a.id)
      or exists (select from search_languages l where l.account_id = a.id)
      or exists (select from ledger l where l.account_id = a.id and (l.reason is not null or l.reference is not null)))`,
  },
  {
    id: 'key_is_digest',
    rule: 'Of an API key only a SHA-256 digest and 14 characters are kept',
    cut: byAccount,
    looksAt: sql`api_keys`,
    broken: sql`select id from api_keys where octet_length(digest) <> 32 or length(prefix) > 10 or length(last_four) > 4`,
  },
];
