import { randomUUIDv7 } from 'node:crypto';
import { insertApiKey, listApiKeys, revokeApiKey } from '../../db/api-keys.ts';
import { rfc3339 } from '../../db/database.ts';
import { digestOf, displayOf, newApiKey } from '../../src/api/access/api-key.ts';
import { changeAccount, getAccount } from './account-lookup.ts';
import { accountId, positiveDuration, scopes, text } from './arguments.ts';
import { addCommand, addGroup, answer, explainMistakes, invocation } from './command.ts';
import { findKey, readKeyReference } from './key-lookup.ts';
import { keyJson, keyStatus, shownKey } from './key-view.ts';
import { details, minuteOf, momentOf, table } from '../terminal/table.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { Command } from 'commander';
import type { Scope } from '../../db/schema.ts';
import type { AdminContext } from './admin-context.ts';
import type { Report } from './command.ts';
import type { KeyReference } from './key-lookup.ts';

export function addKeyCommands(program: Command): void {
  const group = addGroup(program, 'keys', 'Issue, list and revoke API keys.');

  addCommand(
    group,
    'issue',
    'Issue an API key and show its secret, once.',
    'issue ACCOUNT --scope read --scope write',
    'issue ACCOUNT --scope read --label "Nightly export" --expires 90d',
  )
    .argument('<account>', 'id of the account', accountId)
    .requiredOption('--scope <scope>', 'read or write; repeat it for both (write does not imply read)', scopes)
    .option('--label <label>', 'what the key is for', text)
    .option('--expires <duration>', 'until when it is valid, from now: 90d', positiveDuration())
    .action((id: string, options: NewKey, command: Command) => answer(command, (admin) => issue(admin, id, options)));

  addCommand(group, 'list', 'List the keys of an account.', 'list ACCOUNT')
    .argument('<account>', 'id of the account', accountId)
    .action((id: string, _options: object, command: Command) => answer(command, (admin) => list(admin, id)));

  addCommand(group, 'revoke', 'Revoke a key.', 'revoke tsk_x7Gh2Q', 'revoke KEY_ID', 'revoke - < leaked-key.txt')
    .argument('<key>', 'its id, what "keys list" shows of it, or - to read the secret from standard input')
    .action(async (typed: string, _options: object, command: Command) => {
      // Before the database is opened, so that Ctrl-C still works while a secret is waited for.
      const reference = await explainMistakes(command, () => readKeyReference(typed));
      await answer(command, (admin) => revoke(admin, reference));
    });
}

interface NewKey {
  scope: Scope[];
  label?: string;
  /** In ms from now. */
  expires?: number;
}

async function issue({ db }: AdminContext, id: string, options: NewKey): Promise<Report> {
  const secret = newApiKey();
  const { key, eligible } = await changeAccount(db, id, async (trx, account) => {
    const key = await insertApiKey(trx, {
      id: randomUUIDv7(),
      account_id: id,
      digest: digestOf(secret),
      ...displayOf(secret),
      label: options.label ?? null,
      scopes: options.scope,
      expires_at: options.expires === undefined ? null : new Date(Date.now() + options.expires).toISOString(),
    });
    return { key, eligible: account.eligible };
  });
  const shown = details({
    Secret: secret,
    Key: key.id,
    Account: id,
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

async function list({ db }: AdminContext, id: string): Promise<Report> {
  await getAccount(db, id);
  const keys = await listApiKeys(db, id);
  const columns = [
    { head: 'Id' },
    { head: 'Key' },
    { head: 'Scopes' },
    { head: 'Label', width: 12 },
    { head: 'Expires' },
    { head: 'Status' },
  ];
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

async function revoke({ db }: AdminContext, reference: KeyReference): Promise<Report> {
  const found = await findKey(db, reference);
  const key = (await revokeApiKey(db, found.id)) ?? refuseGone();
  const done =
    found.revoked_at === null
      ? `Key ${shownKey(key)} (${key.id}) is revoked; running services refuse it within a second.`
      : `Nothing changed: key ${shownKey(key)} (${key.id}) was revoked at ${rfc3339(found.revoked_at)}.`;
  return { json: keyJson(key), text: done };
}

function refuseGone(): never {
  throw new Refusal('The key was deleted with its account just now.');
}
