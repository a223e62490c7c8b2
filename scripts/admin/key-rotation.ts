import { endKeyIfActive, findApiKeys } from '../../db/accounts/api-keys.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { changeAccount } from './account-lookup.ts';
import { expiryIn, issueKey, issuedReport } from './issued-key.ts';
import { findKey } from './key-lookup.ts';
import { keyJson, keyStatus, shownKey } from './key-view.ts';
import { momentOf } from '../terminal/table.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { ApiKey } from '../../db/accounts/api-keys.ts';
import type { AdminContext } from './admin-context.ts';
import type { Report } from './command.ts';
import type { IssuedKey } from './issued-key.ts';
import type { KeyReference } from './key-lookup.ts';

export interface Rotation {
  /** For how long the old secret is still taken, in ms. */
  grace: number;
  /** In ms from now. Without it the new key does not expire. A key that has an end already is not rotated without it. */
  expires?: number;
}

/**
 * Issues a key with the account, scopes and label of another one, which ends after a grace time.
 *
 * @throws {Refusal} when the old key is not valid any more, or when it has an end and nobody says that of the new one
 */
export async function rotate(admin: AdminContext, reference: KeyReference, options: Rotation): Promise<Report> {
  const found = await findKey(admin.db, reference);
  const logged = { act: 'keys rotate', details: rotationDetails } as const;
  const { issued, old } = await changeAccount(admin, found.account_id, logged, async (trx, account) => {
    const [before] = await findApiKeys(trx, { id: found.id });
    const old = await endKeyIfActive(trx, account.id, found.id, options.grace);
    if (before === undefined || old === undefined) throw new Refusal(notActive(before ?? found));
    if (before.expires_at !== null && options.expires === undefined) throw new Refusal(endsAlready(before));
    const { label, scopes } = old;
    return { issued: await issueKey(trx, account, { label, scopes, expiresAt: expiryIn(options.expires) }), old };
  });
  const { json, text, note } = issuedReport(issued);
  const ends = `Key ${shownKey(old)} (${old.id}) is taken until ${momentOf(old.expires_at)}, and refused from then on.`;
  return { json: { ...json, replaces: keyJson(old) }, text: `${text}\n${ends}`, note };
}

const rotationDetails = ({ issued, old }: { issued: IssuedKey; old: ApiKey }) => ({
  ...{ keyId: old.id, newKeyId: issued.key.id, endsAt: rfc3339(old.expires_at!) },
  ...(issued.key.expires_at !== null && { expiresAt: rfc3339(issued.key.expires_at) }),
});

/** It was issued for a time, or rotated before: then its successor is the key to rotate. */
const endsAlready = (key: ApiKey) =>
  `Key ${shownKey(key)} (${key.id}) ends anyway, at ${momentOf(key.expires_at)}, and nothing was changed. Say until when the new one is valid, such as --expires 90d. Was it rotated before? Then rotate the key that took its place.`;

const notActive = (key: ApiKey) =>
  `Key ${shownKey(key)} (${key.id}) is ${keyStatus(key) === 'active' ? 'gone' : keyStatus(key)}: see keys issue.`;
