/** A key as support sees it: never its secret, never its digest. */
import { rfc3339 } from '../../db/connection/values.ts';
import type { ApiKey } from '../../db/accounts/api-keys.ts';

/** `tsk_abc123…wxyz` */
export const shownKey = (key: ApiKey): string => `${key.prefix}…${key.last_four}`;

export function keyStatus(key: ApiKey): 'active' | 'expired' | 'revoked' {
  if (key.revoked_at !== null) return 'revoked';
  return key.expires_at !== null && Date.parse(rfc3339(key.expires_at)) <= Date.now() ? 'expired' : 'active';
}

export function keyJson(key: ApiKey) {
  return {
    id: key.id,
    accountId: key.account_id,
    prefix: key.prefix,
    lastFour: key.last_four,
    scopes: key.scopes,
    ...(key.label !== null && { label: key.label }),
    status: keyStatus(key),
    createdAt: rfc3339(key.created_at),
    ...(key.expires_at !== null && { expiresAt: rfc3339(key.expires_at) }),
    ...(key.revoked_at !== null && { revokedAt: rfc3339(key.revoked_at) }),
  };
}
