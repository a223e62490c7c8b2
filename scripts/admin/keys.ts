import { findApiKeys, listApiKeys, revokeApiKey } from '../../db/accounts/api-keys.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { changeAccount, getAccount } from './account-lookup.ts';
import { accountId, positiveDuration, scopes, text } from './arguments.ts';
import { explainMistakes } from './answer.ts';
import { addCommand, addGroup, invocation } from './command.ts';
import { expiryIn, issueKey, issuedDetails, issuedReport } from './issued-key.ts';
import { showActivity } from './key-activity.ts';
import { findKey, readKeyReference } from './key-lookup.ts';
import { rotate } from './key-rotation.ts';
import { keyJson, keyStatus, shownKey } from './key-view.ts';
import { minuteOf, table } from '../terminal/table.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { Command } from 'commander';
import type { Scope } from '../../db/schema.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer } from './answer.ts';
import type { Report } from './command.ts';
import type { IssuedKey } from './issued-key.ts';
import type { KeyReference } from './key-lookup.ts';
import type { Rotation } from './key-rotation.ts';

const dayMs = 86_400_000;
const namesKey = 'its id, what "keys list" shows of it, or - to read the secret from standard input';

export function addKeyCommands(program: Command, answer: Answer, terminal: Terminal): void {
  const group = addGroup(program, 'keys', 'Issue, list, rotate and revoke API keys.');

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

  const rotates = 'Issue a key in place of another one, which ends after a grace time.';
  addCommand(group, 'rotate', rotates, 'rotate tsk_x7Gh2Q --grace 7d', 'rotate KEY_ID --grace 1d --expires 90d')
    .argument('<key>', namesKey)
    .option('--grace <duration>', 'for how long the old secret is still taken', positiveDuration(), 7 * dayMs)
    .option(
      '--expires <duration>',
      'until when the new one is valid; needed when the old one has an end',
      positiveDuration(),
    )
    .action(async (typed: string, options: Rotation, command: Command) => {
      const reference = await explainMistakes(command, () => readKeyReference(typed, terminal));
      await answer(command, (admin) => rotate(admin, reference, options));
    });

  addCommand(group, 'revoke', 'Revoke a key.', 'revoke tsk_x7Gh2Q', 'revoke KEY_ID', 'revoke - < leaked-key.txt')
    .argument('<key>', namesKey)
    .action(async (typed: string, _options: object, command: Command) => {
      // Before the database is opened, so that Ctrl-C still works while a secret is waited for.
      const reference = await explainMistakes(command, () => readKeyReference(typed, terminal));
      await answer(command, (admin) => revoke(admin, reference));
    });

  const tells = 'Tell from the log of the API which sessions a key read, from where and when.';
  addCommand(group, 'activity', tells, 'activity tsk_x7Gh2Q service.log', 'activity KEY_ID service.log.1 service.log')
    .argument('<key>', 'its id, or what "keys list" shows of it')
    .argument('<log...>', 'files of the log, or - to read it from standard input')
    .action(async (typed: string, logs: string[], _options: object, command: Command) => {
      const reference = await explainMistakes(command, () => readKeyReference(typed, terminal));
      await answer(command, (admin) => showActivity(admin, reference, logs, terminal.stdin), 'looks');
    });
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
