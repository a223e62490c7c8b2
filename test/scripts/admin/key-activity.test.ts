import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeAccount, makeKey } from '../../support/service/accounts.ts';
import { queueSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { aTime, adminOf, refused } from './run-admin.ts';

const service = await useService({ env: { TRUST_PROXY: '1' } });
const admin = adminOf(service);

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

test('keys activity with a file that is not there → refused', async () => {
  const { keyId } = await makeAccount(service.db);
  expect(await admin.run('keys', 'activity', keyId, '/nowhere/service.log')).toEqual(
    refused(/^The log can not be read: ENOENT/),
  );
});

test('a failed authentication → its line names the address, and no key', async () => {
  await service.get('/v1/sessions', 'tsk_wrong').set('X-Forwarded-For', '192.0.2.99').expect(401);
  const line = await until(
    () => service.logLines.find((one) => one.includes('192.0.2.99')),
    (one) => one !== undefined,
  );
  expect(JSON.parse(line!)).toMatchObject({ status: 401, code: 'unauthorized', address: '192.0.2.99' });
  expect(line).not.toContain('wrong');
});
