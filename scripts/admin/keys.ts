import { randomUUIDv7 } from 'node:crypto';
import { endKeyIfActive, findApiKeys, insertApiKey, listApiKeys, revokeApiKey } from '../../db/accounts/api-keys.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { digestOf, displayOf, newApiKey } from '../../src/api/access/api-key.ts';
import { Refusal } from '../terminal/refusal.ts';
import { details, minuteOf, momentOf, table } from '../terminal/table.ts';
import { changeAccount, getAccount } from './account-lookup.ts';
import { addAccountCommand, addCommand, addGroup, invocation } from './command.ts';
import { positiveDuration, scopes, text } from './arguments.ts';
import { showActivity } from './key-activity.ts';
import { findKey, keyJson, keyStatus, readKeyReference, shownKey } from './key-lookup.ts';
import type { Command } from 'commander';
import type { ApiKey } from '../../db/accounts/api-keys.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { Scope } from '../../db/schema.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';
import type { KeyReference } from './key-lookup.ts';

const dayMs = 86_400_000;
const namesKey = 'its id, what "keys list" shows of it, or - to read the secret from standard input';

export function addKeyCommands(program: Command, answer: Answer, terminal: Terminal): void {
  // Before the database is opened, so that Ctrl-C still works while a secret is waited for.
  const read = async <Others extends unknown[]>(
    typed: string,
    ...others: Others
  ): Promise<[KeyReference, ...Others]> => [await readKeyReference(typed, terminal), ...others];
  const group = addGroup(program, 'keys', 'Issue, list, rotate and revoke API keys.');

  addAccountCommand(
    group,
    'issue',
    'Issue an API key and show its secret, once.',
    'issue ACCOUNT --scope read --scope write',
    'issue ACCOUNT --scope read --label "Nightly export" --expires 90d',
  )
    .requiredOption('--scope <scope>', 'read or write; repeat it for both (write does not imply read)', scopes)
    .option('--label <label>', 'what the key is for', text)
    .option('--expires <duration>', 'until when it is valid, from now: 90d', positiveDuration())
    .action(answer((admin, id: string, options: NewKey) => issue(admin, id, options)));

  addAccountCommand(group, 'list', 'List the keys of an account.', 'list ACCOUNT').action(answer(list));

  const rotates = 'Issue a key in place of another one, which ends after a grace time.';
  addCommand(group, 'rotate', rotates, 'rotate tsk_x7Gh2Q --grace 7d', 'rotate KEY_ID --grace 1d --expires 90d')
    .argument('<key>', namesKey)
    .option('--grace <duration>', 'for how long the old secret is still taken', positiveDuration(), 7 * dayMs)
    .option(
      '--expires <duration>',
      'until when the new one is valid; needed when the old one has an end',
      positiveDuration(),
    )
    .action(answer(rotate, { first: read<[Rotation]> }));

  addCommand(group, 'revoke', 'Revoke a key.', 'revoke tsk_x7Gh2Q', 'revoke KEY_ID', 'revoke - < leaked-key.txt')
    .argument('<key>', namesKey)
    .action(answer(revoke, { first: read<[]> }));

  const tells = 'Tell from the log of the API which sessions a key read, from where and when.';
  addCommand(group, 'activity', tells, 'activity tsk_x7Gh2Q service.log', 'activity KEY_ID service.log.1 service.log')
    .argument('<key>', 'its id, or what "keys list" shows of it')
    .argument('<log...>', 'files of the log, or - to read it from standard input')
    .action(
      answer((admin, key: KeyReference, logs: string[]) => showActivity(admin, key, logs, terminal.stdin), {
        first: read<[string[]]>,
        opening: 'looks',
      }),
    );
}

interface NewKey {
  scope: Scope[];
  label?: string;
  /** In ms from now. */
  expires?: number;
}

async function issue(admin: AdminContext, id: string, options: NewKey): Promise<Report> {
  const { label = null, scope: scopes, expires } = options;
  const logged = { act: 'keys issue', details: ({ key }: IssuedKey) => issuedDetails(key) } as const;
  const issued = await changeAccount(admin, id, logged, (trx, account) =>
    issueKey(trx, account, { label, scopes, expiresAt: expiryIn(expires) }),
  );
  return issuedReport(issued);
}

async function list({ db }: AdminContext, id: string): Promise<Report> {
  await getAccount(db, id);
  const keys = await listApiKeys(db, id);
  const columns = ['Id', 'Key', 'Scopes', { head: 'Label', width: 12 }, 'Expires', 'Status'];
  const rows = keys.map((key) => [
    ...[key.id, shownKey(key), key.scopes.join(','), key.label ?? ''],
    ...[key.expires_at === null ? 'never' : minuteOf(key.expires_at).slice(0, 10), keyStatus(key)],
  ]);
  return {
    json: keys.map(keyJson),
    text: table(
      columns,
      rows,
      `The account has no key yet:\n  ${invocation} keys issue ${id} --scope read --scope write`,
    ),
  };
}

async function revoke({ db, record }: AdminContext, reference: KeyReference): Promise<Report> {
  const { id } = await findKey(db, reference);
  const revoked = await inTransaction(db, async (trx) => {
    const key = await revokeApiKey(trx, id);
    if (key !== undefined) await record(trx, { act: 'keys revoke', accountId: key.account_id, details: { keyId: id } });
    return key;
  });
  const key = revoked ?? (await findApiKeys(db, { id }))[0] ?? refuseGone();
  const done =
    revoked !== undefined
      ? `Key ${shownKey(key)} (${id}) of account ${key.account_id} is revoked; running services refuse it within a second.`
      : `Nothing changed: key ${shownKey(key)} (${id}) was revoked at ${rfc3339(key.revoked_at!)}.`;
  return { json: keyJson(key), text: done };
}

function refuseGone(): never {
  throw new Refusal('The key was deleted with its account just now.');
}

interface Rotation {
  /** For how long the old secret is still taken, in ms. */
  grace: number;
  /** In ms from now. Without it the new key does not expire. A key that has an end already is not rotated without it. */
  expires?: number;
}

/**
 * Issues a key with the account, scopes and label of another one, which ends after a grace time.
 *
 * @throws {Refusal} when the old key is not valid any more, or when it has an end and none is given for the new one
 */
async function rotate(admin: AdminContext, reference: KeyReference, options: Rotation): Promise<Report> {
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

interface IssuedKey {
  key: ApiKey;
  secret: string;
  /** Whether the account's plan may use the API. */
  eligible: boolean;
}

async function issueKey(
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
const expiryIn = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(Date.now() + ms).toISOString();

/** For the log of what support did. */
const issuedDetails = ({ id, scopes, expires_at }: ApiKey) => ({
  ...{ keyId: id, scopes },
  ...(expires_at !== null && { expiresAt: rfc3339(expires_at) }),
});

function issuedReport({ key, secret, eligible }: IssuedKey): Report & { json: object } {
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
