import { insertApiKey } from '../../../db/accounts/api-keys.ts';
import { digestOf, isWellFormedApiKey, newApiKey } from '../../../src/api/access/api-key.ts';
import { makeAccount, makeKey } from '../../support/service/accounts.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { aTime, adminOf, anId, mistaken, refused } from './run-admin.ts';
import type { Admin, JsonObject } from './run-admin.ts';

const service = await useService();
let admin: Admin;
beforeAll(async () => {
  admin = adminOf(service);
});

const statusWith = async (key: string) => (await service.get('/v1/sessions', key)).status;

test('keys issue → a key that works, whose secret is in no list and in no row', async () => {
  const { id } = await makeAccount(service.db);
  const asked = ['--scope', 'read', '--scope', 'write', '--label', 'Nightly export', '--expires', '90d'];
  const { secret, ...issued } = await admin.json<JsonObject & { secret: string }>('keys', 'issue', id, ...asked);
  expect(isWellFormedApiKey(secret)).toBe(true);
  expect(issued).toEqual({
    ...{ id: anId, accountId: id, prefix: secret.slice(0, 10), lastFour: secret.slice(-4) },
    ...{ scopes: ['read', 'write'], label: 'Nightly export', status: 'active', createdAt: aTime, expiresAt: aTime },
  });
  const days = (Date.parse(String(issued.expiresAt)) - Date.now()) / 86_400_000;
  expect(days).toBeCloseTo(90, 2);
  expect(await statusWith(secret)).toBe(200);

  const [listed, table] = await Promise.all([admin.run('keys', 'list', id, '--json'), admin.run('keys', 'list', id)]);
  expect(JSON.parse(listed.stdout)).toContainEqual(issued);
  expect(listed.stdout + table.stdout).not.toContain(secret.slice(10, -4));
  expect(table.stdout).toContain(`${secret.slice(0, 10)}…${secret.slice(-4)}`);
  for (const line of table.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);

  const row = await service.db.selectFrom('api_keys').selectAll().where('id', '=', issued.id).executeTakeFirstOrThrow();
  expect(row.digest.equals(digestOf(secret))).toBe(true);
  expect(JSON.stringify({ ...row, digest: row.digest.toString('latin1') })).not.toContain(secret.slice(10, -4));
});

test('keys issue for people → the secret once, and that it is shown once', async () => {
  const { id } = await makeAccount(service.db, { plan: 'free' });
  const { code, stdout, stderr } = await admin.run('keys', 'issue', id, '--scope', 'read');
  expect(code).toBe(0);
  expect(stdout.match(/tsk_\w{38}/g)).toHaveLength(1);
  expect(stdout).toMatch(/Scopes +read\nExpires +never\n\nThe secret is shown this once and not stored/);
  expect(stderr).toMatch(/plan of this account may not use the API/);
});

test('keys list → active, expired and revoked', async () => {
  const { id, keyId } = await makeAccount(service.db);
  const expired = await makeKey(service.db, id, { expiresAt: '2020-01-01T00:00:00Z' });
  const revoked = await makeKey(service.db, id);
  await admin.json('keys', 'revoke', revoked.keyId);
  expect(await admin.json<JsonObject[]>('keys', 'list', id)).toMatchObject([
    { id: keyId, status: 'active' },
    { id: expired.keyId, status: 'expired', expiresAt: '2020-01-01T00:00:00Z' },
    { id: revoked.keyId, status: 'revoked', revokedAt: aTime },
  ]);
});

test('keys revoke for people → says whose key it was', async () => {
  const { id } = await makeAccount(service.db);
  const { keyId } = await makeKey(service.db, id);
  expect((await admin.run('keys', 'revoke', keyId)).stdout).toContain(`of account ${id} is revoked`);
});

test.each<[string, (key: string, keyId: string) => [input: string, typed: string]]>([
  ['its id', (_key, keyId) => ['', keyId]],
  ['its prefix', (key) => ['', key.slice(0, 10)]],
  ['what the list shows', (key) => ['', `${key.slice(0, 10)}…${key.slice(-4)}`]],
  ['the secret on standard input', (key) => [`${key}\n`, '-']],
])('keys revoke by %s → refused by the running service; again: nothing changed', async (_by, name) => {
  const { id } = await makeAccount(service.db);
  const { key, keyId } = await makeKey(service.db, id);
  expect(await statusWith(key)).toBe(200);
  const [input, typed] = name(key, keyId);
  const end = await admin.runWithInput(input, 'keys', 'revoke', typed, '--json');
  expect(end).toMatchObject({ code: 0, stderr: '' });
  await until(async () => (await statusWith(key)) === 401);
  const revoked = JSON.parse(end.stdout) as JsonObject;
  expect(revoked).toMatchObject({ id: keyId, accountId: id, status: 'revoked', revokedAt: aTime });
  expect(end.stdout).not.toContain(key.slice(10, -4));

  const again = await admin.runWithInput(input, 'keys', 'revoke', typed);
  expect(again).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining(`was revoked at ${String(revoked.revokedAt)}`),
  });
});

test('keys revoke by a prefix of two keys → refused, both are named, none is revoked; with the last four it is clear', async () => {
  const { id } = await makeAccount(service.db);
  const row = { account_id: id, prefix: 'tsk_Twins1', label: null, scopes: ['read' as const], expires_at: null };
  const twins = ['0198c0de-0000-7000-8000-000000000001', '0198c0de-0000-7000-8000-000000000002'];
  for (const [i, twin] of twins.entries()) {
    await insertApiKey(service.db, { ...row, id: twin, digest: digestOf(twin), last_four: `000${i}` });
  }
  const end = await admin.run('keys', 'revoke', 'tsk_Twins1');
  expect(end).toEqual(refused(/^Several keys begin like this, and nothing was changed/));
  for (const twin of twins) expect(end.stderr).toContain(twin);
  expect(await admin.json('keys', 'list', id)).not.toContainEqual(expect.objectContaining({ status: 'revoked' }));
  expect(await admin.json('keys', 'revoke', 'tsk_Twins1...0001')).toMatchObject({ id: twins[1], status: 'revoked' });
});

test.each([
  ['an unknown id', '', '0198c0de-0000-7000-8000-000000000000', refused(/^There is no such key/)],
  ['an unknown prefix', '', 'tsk_zzzzzz', refused(/^There is no such key/)],
  ['an unknown secret', newApiKey(), '-', refused(/^There is no such key/)],
  ['a secret cut short', newApiKey().slice(0, -1), '-', mistaken(/holds no complete key/)],
  ['two secrets', `${newApiKey()}\n${newApiKey()}`, '-', mistaken(/exactly one key/)],
  ['an empty standard input', '', '-', mistaken(/holds no complete key/)],
  ['a damaged secret', '', `tsk_${'s'.repeat(38)}`, mistaken(/names no key/)],
])('keys revoke with %s → refused, and nothing that was typed is repeated', async (_what, input, typed, end) => {
  const ended = await admin.runWithInput(input, 'keys', 'revoke', typed);
  expect(ended).toEqual(end);
  expect(ended.stderr).not.toMatch(/tsk_\w{7}/);
});
