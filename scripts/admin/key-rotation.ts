import { endKeyIfActive } from '../../db/api-keys.ts';
import { rfc3339 } from '../../db/database.ts';
import { changeAccount } from './account-lookup.ts';
import { expiryIn, issueKey, issuedReport } from './issued-key.ts';
import { findKey } from './key-lookup.ts';
import { keyJson, keyStatus, shownKey } from './key-view.ts';
import { momentOf } from '../terminal/table.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { ApiKey } from '../../db/api-keys.ts';
import type { AdminContext } from './admin-context.ts';
import type { Report } from './command.ts';
import type { IssuedKey } from './issued-key.ts';
import type { KeyReference } from './key-lookup.ts';

export interface Rotation {
  /** For how long the old secret is still taken, in ms. */
  grace: number;
  /** In ms from now. Without it the new key expires when the old one would have. */
  expires?: number;
}

/**
 * Issues a key with the account, scopes and label of another one, which ends after a grace time.
 *
 * @throws {Refusal} when the old key is not valid any more
 */
export async function rotate(admin: AdminContext, reference: KeyReference, options: Rotation): Promise<Report> {
  const found = await findKey(admin.db, reference);
  const logged = { act: 'keys rotate', details: rotationDetails } as const;
  const { issued, old } = await changeAccount(admin, found.account_id, logged, async (trx, account) => {
    const old = await endKeyIfActive(trx, account.id, found.id, options.grace);
    if (old === undefined) throw new Refusal(notActive(found));
    const expiresAt = options.expires === undefined ? found.expires_at : expiryIn(options.expires);
    const { label, scopes } = old;
    return { issued: await issueKey(trx, account, { label, scopes, expiresAt }), old };
  });
  const { json, text, note } = issuedReport(issued);
  const ends = `Key ${shownKey(old)} (${old.id}) is taken until ${momentOf(old.expires_at)}, and refused from then on.`;
  const inherits = options.expires === undefined && issued.key.expires_at !== null;
  const notes = [note, inherits ? 'The new key expires when the old one would have: see --expires.' : undefined];
  return {
    json: { ...json, replaces: keyJson(old) },
    text: `${text}\n${ends}`,
    note: notes.filter((one) => one !== undefined).join('\n') || undefined,
  };
}

const rotationDetails = ({ issued, old }: { issued: IssuedKey; old: ApiKey }) => ({
  ...{ keyId: old.id, newKeyId: issued.key.id, endsAt: rfc3339(old.expires_at!) },
  ...(issued.key.expires_at !== null && { expiresAt: rfc3339(issued.key.expires_at) }),
});

const notActive = (key: ApiKey) =>
  `Key ${shownKey(key)} (${key.id}) is ${keyStatus(key) === 'active' ? 'gone' : keyStatus(key)}: see keys issue.`;
