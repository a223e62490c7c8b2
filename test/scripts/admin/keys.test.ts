import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { insertApiKey } from '../../../db/accounts/api-keys.ts';
import { digestOf, isWellFormedApiKey, newApiKey } from '../../../src/api/access/api-key.ts';
import { makeAccount, makeKey } from '../../support/service/accounts.ts';
import { queueSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { aTime, adminOf, anId, mistaken, refused } from './run-admin.ts';
import type { JsonObject } from './run-admin.ts';

const service = await useService({ env: { TRUST_PROXY: '1', LOG_ADDRESSES: 'full' } });
const admin = adminOf(service);

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

  const row = await service.db.selectFrom('api_keys').selectAll().where('id', '=', issued.id).executeTakeFirstOrThrow();
  expect(row.digest.equals(digestOf(secret))).toBe(true);
  expect(JSON.stringify({ ...row, digest: row.digest.toString('latin1') })).not.toContain(secret.slice(10, -4));
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
  expect(await admin.json<JsonObject[]>('keys', 'list', id)).toContainEqual(revoked);
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
  ['an unknown prefix', '', 'tsk_zzzzzz', refused(/^There is no such key/)],
  ['an unknown secret', newApiKey(), '-', refused(/^There is no such key/)],
  ['a secret cut short', newApiKey().slice(0, -1), '-', mistaken(/holds no complete key/)],
  ['two secrets', `${newApiKey()}\n${newApiKey()}`, '-', mistaken(/exactly one key/)],
  ['a damaged secret', '', `tsk_${'s'.repeat(38)}`, mistaken(/names no key/)],
])('keys revoke with %s → refused, and nothing that was typed is repeated', async (_what, input, typed, end) => {
  const ended = await admin.runWithInput(input, 'keys', 'revoke', typed);
  expect(ended).toEqual(end);
  expect(ended.stderr).not.toMatch(/tsk_\w{7}/);
});

/** Issued in place of another key. */
type Rotated = JsonObject & { secret: string; scopes: string[]; expiresAt?: string; replaces: JsonObject };
const rotate = (keyId: string, ...options: string[]) => admin.json<Rotated>('keys', 'rotate', keyId, ...options);
const actsOn = async (accountId: string) =>
  (await admin.json<JsonObject[]>('log', '--account', accountId)).map(({ act, details }) => [act, details]);
const daysUntil = (time: unknown) => (Date.parse(String(time)) - Date.now()) / 86_400_000;

test('keys rotate → both secrets are taken, the old one for the grace time; the new one is like the old', async () => {
  const { id, keyId, key } = await makeAccount(service.db);
  const { secret, replaces, ...made } = await rotate(keyId);
  expect(made).toMatchObject({ accountId: id, scopes: ['read', 'write'], status: 'active' });
  expect(made).not.toHaveProperty('expiresAt');
  expect(replaces).toMatchObject({ id: keyId, status: 'active' });
  expect(daysUntil(replaces['expiresAt'])).toBeCloseTo(7, 2);
  expect([await statusWith(key), await statusWith(secret)]).toEqual([200, 200]);
  const details = { keyId, newKeyId: made.id, endsAt: replaces['expiresAt'] };
  expect(await actsOn(id)).toEqual([['keys rotate', details]]);
});

test('keys rotate with a grace time that is over → the old secret is refused like a revoked one, the new one taken', async () => {
  const { id, keyId, key } = await makeAccount(service.db);
  expect(await statusWith(key)).toBe(200);
  const { secret } = await rotate(keyId, '--grace', '1ms');
  await until(async () => (await statusWith(key)) === 401);
  expect(await statusWith(secret)).toBe(200);
  expect(await admin.run('keys', 'rotate', keyId)).toEqual(refused(/is expired: see keys issue/));
  expect((await admin.json<JsonObject[]>('keys', 'list', id)).map(({ status }) => status)).toEqual([
    'expired',
    'active',
  ]);
});

test('keys rotate of a key that has an end → only with an end for the new one; the old one never lives longer for it', async () => {
  const { id } = await makeAccount(service.db);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { keyId } = await makeKey(service.db, id, { scopes: ['read'], expiresAt });
  const unsaid = await admin.run('keys', 'rotate', keyId);
  expect(unsaid).toEqual(refused(/ends anyway, at .*, and nothing was changed\. .* --expires 90d/));
  expect(await actsOn(id)).toEqual([]);
  const rotated = await rotate(keyId, '--expires', '90d');
  expect(rotated.scopes).toEqual(['read']);
  expect(daysUntil(rotated.expiresAt)).toBeCloseTo(90, 2);
  expect(Date.parse(String(rotated.replaces['expiresAt']))).toBe(Date.parse(expiresAt));
});

/** Lines of requests, which are logged once their answers have left. */
const requestLines = (amount: number) =>
  until(
    () => service.logLines.filter((line) => line.includes('"msg":"request"')),
    (lines) => lines.length >= amount,
  );

test('keys activity → which sessions a key read, from where and when; and nothing that another key did', async () => {
  const { id, key: leaked, keyId } = await makeAccount(service.db);
  const other = await makeKey(service.db, id);
  const session = await queueSession(service.db, id);
  const path = `/v1/sessions/${session.id}`;
  const ask = (from: string, what: string, key = leaked) => service.get(what, key).set('X-Forwarded-For', from);
  await ask('203.0.113.7', `${path}/transcript`).expect(200);
  await ask('203.0.113.7', `${path.toUpperCase().replace('V1/SESSIONS', 'v1/sessions')}/transcript`).expect(200);
  await ask('2001:db8::7', path).expect(200);
  await ask('2001:db8::7', '/v1/sessions?limit=5').expect(200);
  await ask('198.51.100.9', `${path}/transcript?format=srt`).expect(409);
  await ask('198.51.100.9', `${path}/transcript`, other.key).expect(200);
  const upload = service.post('/v1/transcriptions', leaked).set('X-Forwarded-For', '203.0.113.7');
  const { body } = await upload.attach('file', await tone(100), 'tone.wav').expect(202);
  const { sessionId } = body as { sessionId: string };

  const log = (await requestLines(7)).join('');
  expect(log).not.toContain(leaked.slice(10));
  const file = join(service.dataDir, 'service.log');
  await writeFile(file, `ched":7,"keyId":"${keyId}"}\nno JSON\n${log}`);
  const deed = { first: aTime, last: aTime };
  expect(await admin.json('keys', 'activity', keyId, file)).toEqual({
    ...(await admin.json<{ id: string }[]>('keys', 'list', id)).find((one) => one.id === keyId),
    ...{ requests: 6, refused: 1, lists: [{ ...deed, address: '2001:db8::7', times: 1 }] },
    deeds: [
      { ...deed, sessionId: session.id, what: 'read', address: '203.0.113.7', times: 2 },
      { ...deed, sessionId: session.id, what: 'looked at', address: '2001:db8::7', times: 1 },
      { ...deed, sessionId, what: 'uploaded', address: '203.0.113.7', times: 1 },
    ],
  });
  const { code, stdout } = await admin.runWithInput(log, 'keys', 'activity', leaked.slice(0, 10), '-');
  expect(code).toBe(0);
  expect(stdout).toContain('6 requests in this log, 1 of them refused or not answered.');
  expect(stdout).toMatch(new RegExp(`${session.id} +read +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d .*203\\.0\\.113\\.7`));
});
