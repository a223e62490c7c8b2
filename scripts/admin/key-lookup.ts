/** Which key is meant: by its id, by the part that lists show, or by the secret itself. And what support sees of it: never its secret. */
import { text as readAll } from 'node:stream/consumers';
import { findApiKeys } from '../../db/accounts/api-keys.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { digestOf, isWellFormedApiKey } from '../../src/api/access/api-key.ts';
import { Mistake, Refusal } from '../terminal/refusal.ts';
import { isId } from './arguments.ts';
import type { ApiKey } from '../../db/accounts/api-keys.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The ways in which {@link findKey} finds a key. */
export type KeyReference = { id: string } | { prefix: string; lastFour: string | undefined } | { digest: Buffer };

const shown = /^(tsk_[0-9A-Za-z]{6})(?:(?:…|\.\.\.)([0-9A-Za-z]{4}))?$/;

/** @throws {Mistake} that doesn't repeat what was typed, because it may be a secret */
export async function readKeyReference(typed: string, terminal: Terminal): Promise<KeyReference> {
  if (typed === '-') return { digest: digestOf(await readSecret(terminal)) };
  const key = typed.trim();
  if (isId(key.toLowerCase())) return { id: key.toLowerCase() };
  const [, prefix, lastFour] = shown.exec(key) ?? [];
  if (prefix !== undefined) return { prefix, lastFour };
  if (isWellFormedApiKey(key)) return { digest: digestOf(key) };
  throw new Mistake(
    'this names no key. Type its id, what "keys list" shows of it (tsk_ and 6 characters), or - and the secret on standard input.',
  );
}

/** @throws {Refusal} when there is no such key, or several */
export async function findKey(db: Db, reference: KeyReference): Promise<ApiKey> {
  const by = 'prefix' in reference ? { prefix: reference.prefix } : reference;
  const lastFour = 'prefix' in reference ? reference.lastFour : undefined;
  const found = (await findApiKeys(db, by)).filter((key) => lastFour === undefined || key.last_four === lastFour);
  const [key, ...others] = found;
  if (key === undefined) throw new Refusal('There is no such key. "keys list ACCOUNT" shows those of an account.');
  if (others.length === 0) return key;
  const choices = found.map((one) => `  ${one.id}  ${shownKey(one)}  ${keyStatus(one)}  account ${one.account_id}`);
  throw new Refusal(
    `Several keys begin like this, and nothing was changed. Type the id of one:\n${choices.join('\n')}`,
  );
}

async function readSecret({ stdin, err }: Terminal): Promise<string> {
  if (stdin.isTTY) err.write('Paste the leaked key, press Enter, then Ctrl-D.\n');
  const secret = (await readAll(stdin)).trim();
  if (isWellFormedApiKey(secret)) return secret;
  throw new Mistake(
    'standard input holds no complete key (tsk_ and 38 characters). Type - and give it exactly one key.',
  );
}

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
