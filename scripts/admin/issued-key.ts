/** A key that is made now: the one moment at which its secret is shown. */
import { randomUUIDv7 } from 'node:crypto';
import { insertApiKey } from '../../db/accounts/api-keys.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { digestOf, displayOf, newApiKey } from '../../src/api/access/api-key.ts';
import { keyJson } from './key-view.ts';
import { details, momentOf } from '../terminal/table.ts';
import type { ApiKey } from '../../db/accounts/api-keys.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { Scope } from '../../db/schema.ts';
import type { Report } from './command.ts';

export interface IssuedKey {
  key: ApiKey;
  secret: string;
  /** Whether the account's plan may use the API. */
  eligible: boolean;
}

export async function issueKey(
  trx: Trx,
  account: { id: string; eligible: boolean },
  { label, scopes, expiresAt }: { label: string | null; scopes: Scope[]; expiresAt: string | null },
): Promise<IssuedKey> {
  const secret = newApiKey();
  const ids = { id: randomUUIDv7(), account_id: account.id };
  const row = { ...ids, digest: digestOf(secret), ...displayOf(secret), label, scopes, expires_at: expiresAt };
  return { key: await insertApiKey(trx, row), secret, eligible: account.eligible };
}

/** RFC 3339, or null for a key that does not expire. */
export const expiryIn = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(Date.now() + ms).toISOString();

/** For the log of what support did. */
export const issuedDetails = ({ id, scopes, expires_at }: ApiKey) => ({
  ...{ keyId: id, scopes },
  ...(expires_at !== null && { expiresAt: rfc3339(expires_at) }),
});

export function issuedReport({ key, secret, eligible }: IssuedKey): Report & { json: object } {
  const shown = details({
    Secret: secret,
    Key: key.id,
    Account: key.account_id,
    Scopes: key.scopes.join(', '),
    Label: key.label ?? undefined,
    Expires: momentOf(key.expires_at) ?? 'never',
  });
  return {
    json: { ...keyJson(key), secret },
    text: `${shown}\n\nThe secret is shown this once and not stored: hand it over now.`,
    note: eligible
      ? undefined
      : 'The plan of this account may not use the API: with this key every request is refused.',
  };
}
