/** What support does with accounts, plans, money and sessions, and the log of it. */
import { existsSync, openAsBlob } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BlobReader, TextWriter, ZipReader } from '@zip.js/zip.js';
import { sql } from 'kysely';
import { findAccount, suspendAccount, updateAccount } from '../../../db/accounts/accounts.ts';
import { addToSupportLog } from '../../../db/accounts/support-log.ts';
import { insertIdempotencyRecord } from '../../../db/sessions/idempotency.ts';
import { findSessionRow } from '../../../db/sessions/sessions.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { whoWorks } from '../../../scripts/admin/command.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { credit, makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';
import { aTime, adminOf, anId, mistaken, refused } from './run-admin.ts';
import type { Updateable } from 'kysely';
import type { SessionTable } from '../../../db/schema.ts';
import type { JsonObject } from './run-admin.ts';

const service = await useService();
const admin = adminOf(service);
const folder = useFolder();
const tone = await ffmpeg(...sine(2), `${folder}/Board meeting.wav`);
afterEach(() => expectSound(service));

const planLimits = {
  requestsPerMinute: 60,
  queuedSessions: 10,
  runningJobs: 2,
  maxUploadBytes: 1_073_741_824,
  maxAudioMs: 14_400_000,
};

test('accounts create → an account with its first credit; show and list tell the same', async () => {
  const asked = ['--name', '  Müller & Söhne ', '--plan', 'pro', '--balance', '10h'];
  const created = await admin.json('accounts', 'create', ...asked);
  expect(created).toEqual({
    ...{ id: anId, name: 'Müller & Söhne', plan: 'pro', status: 'active', createdAt: aTime },
    ...{ balanceMs: 36_000_000, reservedMs: 0, availableMs: 36_000_000 },
    ...{ ...planLimits, overrides: [] },
  });
  const { id } = created;
  const [shown, listed, ledger, text] = await Promise.all([
    admin.json('accounts', 'show', id),
    admin.json<JsonObject[]>('accounts', 'list'),
    admin.json('balance', 'show', id),
    admin.run('accounts', 'show', id),
  ]);
  expect(shown).toEqual(created);
  expect(listed).toContainEqual(created);
  expect(ledger.entries).toEqual([{ id: anId, kind: 'credit', amountMs: 36_000_000, createdAt: aTime }]);
  expect(text).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/Name +Müller & Söhne\nPlan +pro\n[^]*Balance +10h\n/),
  });
});

test('set-plan, suspend, resume → what the account may do, at once', async () => {
  const { id, key } = await makeAccount(service.db, { plan: 'free' });
  await service.get('/v1/sessions', key).expect(403);
  expect(await admin.json('accounts', 'set-plan', id, 'team')).toMatchObject({
    id,
    plan: 'team',
    requestsPerMinute: 300,
  });
  expect(await admin.json('accounts', 'suspend', id)).toMatchObject({ id, status: 'suspended', suspendedAt: aTime });
  const resumed = await admin.json('accounts', 'resume', id);
  expect(resumed).toMatchObject({ id, status: 'active' });
  expect(resumed).not.toHaveProperty('suspendedAt');
});

test('set-retention → for sessions from now on, shown; none takes it back', async () => {
  const { id } = await makeAccount(service.db);
  expect(await admin.json('accounts', 'set-retention', id, '90')).toMatchObject({ id, retentionDays: 90 });
  const { stdout } = await admin.run('accounts', 'show', id);
  expect(stdout).toMatch(/^Retention +90 days$/m);
  expect(await admin.json('accounts', 'set-retention', id, '30d')).toMatchObject({ id, retentionDays: 30 });
  expect(await admin.json('accounts', 'set-retention', id, 'none')).not.toHaveProperty('retentionDays');
  for (const wrong of ['0', '3651d', '30dd'])
    expect(await admin.run('accounts', 'set-retention', id, wrong)).toEqual(mistaken(/1 to 3650/));
});

test('set-limits → overrides one by one, and --clear takes all of them back', async () => {
  const { id } = await makeAccount(service.db, { plan: 'pro' });
  const first = ['--requests-per-minute', '600', '--queued-sessions', '0', '--running-jobs', '100'];
  await admin.json('accounts', 'set-limits', id, ...first);
  const second = ['--max-upload-bytes', '2147483647', '--max-audio', '8h30m'];
  expect(await admin.json('accounts', 'set-limits', id, ...second)).toMatchObject({
    ...{ requestsPerMinute: 600, queuedSessions: 0, runningJobs: 100 },
    ...{ maxUploadBytes: 2_147_483_647, maxAudioMs: 30_600_000 },
    overrides: ['requestsPerMinute', 'queuedSessions', 'runningJobs', 'maxUploadBytes', 'maxAudioMs'],
  });
  const { stdout } = await admin.run('accounts', 'show', id);
  expect(stdout).toMatch(/Longest audio +8h 30m \(its own; the plan says 4h\)/);
  expect(await admin.json('accounts', 'set-limits', id, '--clear')).toMatchObject({ ...planLimits, overrides: [] });
});

test('accounts delete → only the ledger is left, without text, and what support did', async () => {
  const { db, audioStore, queue } = service;
  const { id, key, keyId } = await makeAccount(db);
  const other = await makeAccount(db);
  await admin.json('balance', 'correct', id, '-10m', '--reason', 'Paid by Jane Doe', '--reference', 'jane-1');
  const completed = await makeSession(db, id, { status: 'completed', reservedMs: 7_100 });
  await makeSession(db, id, { status: 'processing', reservedMs: 60_000 });
  const waiting = await makeSession(db, id, { reservedMs: 30_000 });
  const theirs = await makeSession(db, other.id, { status: 'completed', reservedMs: 7_100 });
  await inTransaction(db, async (trx) => {
    await queue.enqueue(trx, { id, running_jobs: 1 }, (await findSessionRow(trx, id, waiting.id))!);
    const record = { fingerprint: Buffer.alloc(32), session_id: waiting.id, job_id: waiting.jobId };
    await insertIdempotencyRecord(trx, { ...record, account_id: id, key: 'once' });
  });
  const audio = audioStore.path(id, waiting.id);
  await mkdir(dirname(audio), { recursive: true });
  await writeFile(audio, 'audio');
  await admin.json('keys', 'revoke', keyId);
  const before = await admin.json('balance', 'show', id);
  expect(before).toMatchObject({ balanceMs: 2_992_900, reservedMs: 90_000, availableMs: 2_902_900 });

  expect(await admin.json('accounts', 'delete', id)).toMatchObject({
    ...{ id, name: '', status: 'deleted', deletedAt: aTime, erasedSessions: 3, erasedKeys: 1 },
    ...{ balanceMs: before.balanceMs, reservedMs: 0 },
  });

  const tables = ['sessions', 'transcripts', 'api_keys', 'idempotency'] as const;
  const left = tables.map((name) => db.selectFrom(name).select('account_id').where('account_id', '=', id).execute());
  expect(await Promise.all(left)).toEqual(tables.map(() => []));
  expect(existsSync(dirname(audio))).toBe(false);
  const { entries } = await admin.json<{ entries: object[] }>('balance', 'show', id);
  expect(entries).toEqual([
    { id: anId, kind: 'credit', amountMs: 3_600_000, createdAt: aTime },
    { id: anId, kind: 'correction', amountMs: -600_000, createdAt: aTime },
    { id: anId, kind: 'charge', amountMs: -7_100, sessionId: completed.id, createdAt: aTime },
  ]);
  expect(await jobsOf(service, waiting.id)).toMatchObject([{ state: 'cancelled' }]);
  expect((await logOf(id)).map(({ act, details }) => [act, details])).toEqual([
    ['accounts delete', { erasedSessions: 2, erasedKeys: 1 }],
    ['accounts delete', { erasedSessions: 1 }],
    ['keys revoke', { keyId }],
    ['balance correct', { amountMs: -600_000 }],
  ]);
  expect(await admin.json<JsonObject[]>('accounts', 'list')).not.toContainEqual(expect.objectContaining({ id }));
  await service.get('/v1/sessions', key).expect(401);
  await service.get(`/v1/sessions/${theirs.id}`, other.key).expect(200);
});

test('a deleted account → takes no credit, no key, no plan, and is not deleted twice', async () => {
  const { id } = await makeAccount(service.db);
  await admin.json('accounts', 'delete', id);
  const ends = await Promise.all([
    admin.run('balance', 'credit', id, '1h'),
    admin.run('keys', 'issue', id, '--scope', 'read'),
    admin.run('accounts', 'set-plan', id, 'pro'),
    admin.run('accounts', 'resume', id),
    admin.run('accounts', 'delete', id),
  ]);
  for (const end of ends) expect(end).toEqual(refused(/was deleted: only its ledger is left/));
  expect((await findAccount(service.db, id))!.balance_ms).toBe(3_600_000);
});

test('plans list and set → rows with their name as id; accounts without an override follow', async () => {
  const { id } = await makeAccount(service.db, { plan: 'team', limits: { running_jobs: 9 } });
  const plan = {
    ...{ id: 'team', plan: 'team', eligible: true },
    ...{ ...planLimits, requestsPerMinute: 300, queuedSessions: 50, runningJobs: 4 },
  };
  expect(await admin.json<JsonObject[]>('plans', 'list')).toContainEqual(plan);
  const changed = { ...plan, requestsPerMinute: 301, runningJobs: 5 };
  expect(await admin.json('plans', 'set', 'team', '--requests-per-minute', '301', '--running-jobs', '5')).toEqual(
    changed,
  );
  expect(await admin.json('accounts', 'show', id)).toMatchObject({ requestsPerMinute: 301, runningJobs: 9 });
});

test('credit, correct up and down, and a charge → the ledger in order, and the balance is its sum', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  const { id: sessionId } = await makeSession(service.db, id, {
    status: 'completed',
    reservedMs: 7_100,
    title: 'Secret plans',
  });
  expect(await admin.json('balance', 'credit', id, '10h')).toMatchObject({ id, balanceMs: 35_992_900, changed: true });
  await admin.json('balance', 'correct', id, '-2h30m', '--reason', 'Credited twice', '--reference', 'ticket-7');
  await admin.json('balance', 'correct', id, '--reason', '-5', '+5m');
  const shown = await admin.json('balance', 'show', id);
  expect(shown).toEqual({
    ...{ id, name: 'A company', balanceMs: 27_292_900, reservedMs: 0, availableMs: 27_292_900 },
    entries: [
      { id: anId, kind: 'charge', amountMs: -7_100, sessionId, createdAt: aTime },
      { id: anId, kind: 'credit', amountMs: 36_000_000, createdAt: aTime },
      {
        id: anId,
        kind: 'correction',
        amountMs: -9_000_000,
        reason: 'Credited twice',
        reference: 'ticket-7',
        createdAt: aTime,
      },
      { id: anId, kind: 'correction', amountMs: 300_000, reason: '-5', createdAt: aTime },
    ],
  });

  const { stdout } = await admin.run('balance', 'show', id);
  expect(stdout).toMatch(/Balance +7h 34m 52.9s\n/);
  expect(stdout).toMatch(/correction +-2h 30m +7h 29m 52.9s +ticket-7: Credited twice\n/);
});

test('a repeated reference → changes nothing and says so, whatever the amount and kind', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  await admin.json('balance', 'credit', id, '3h', '--reference', 'invoice-1');
  const [again, corrected] = await Promise.all([
    admin.run('balance', 'credit', id, '5h', '--reference', 'invoice-1'),
    admin.json('balance', 'correct', id, '-1h', '--reason', 'x', '--reference', 'invoice-1'),
  ]);
  expect(again).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: expect.stringMatching(
      /^Nothing changed: the reference 'invoice-1' was used before, for a credit of 3h at .*Z\. The balance is 3h\.\n$/,
    ),
  });
  expect(corrected).toMatchObject({ id, changed: false, balanceMs: 10_800_000 });
});

const logOf = (accountId: string) => admin.json<JsonObject[]>('log', '--account', accountId);

test('what is typed is logged with who typed it; what changes nothing is not', async () => {
  const { id } = await makeAccount(service.db);
  const credit = ['balance', 'credit', id, '10h', '--reference', 'invoice-7', '--as', 'Alice'];
  for (let times = 0; times < 2; times++) await admin.json(...credit);
  const log = await logOf(id);
  expect(log).toEqual([
    {
      ...{ id: expect.any(Number), at: aTime, who: expect.stringMatching(/^Alice \(.+\)$/), act: 'balance credit' },
      ...{ accountId: id, details: { amountMs: 36_000_000 } },
    },
  ]);
  expect(JSON.stringify(log)).not.toContain('invoice');
});

test.each([
  ['update support_log set who = who'],
  ['delete from support_log'],
  ['truncate support_log'],
  [`insert into support_log values (999, now(), 'a', 'b', null, '"tsk_0123456789abc"')`],
])('%s → refused', async (statement) => {
  await inTransaction(service.db, (trx) => addToSupportLog(trx, 'a test', { act: 'backup' }));
  await expect(sql.raw(statement).execute(service.db)).rejects.toThrow(/append-only|check constraint/);
});

test('many at once, some of them rolled back → no gap', async () => {
  const acts = Array.from({ length: 12 }, (_, index) =>
    inTransaction(service.db, async (trx) => {
      await addToSupportLog(trx, 'a test', { act: 'backup' });
      if (index % 3 === 0) throw new Error('changed its mind');
    }).catch(() => {}),
  );
  await Promise.all(acts);
});

test('who works: --as before ADMIN_AS before the user of the system, who is always named', () => {
  const user = whoWorks(undefined, {});
  expect(whoWorks('Alice', { ADMIN_AS: 'Bob' })).toBe(`Alice (${user})`);
  expect(whoWorks(undefined, { ADMIN_AS: 'Bob' })).toBe(`Bob (${user})`);
  expect(() => whoWorks(undefined, { ADMIN_AS: 'a\nb' })).toThrow(/ADMIN_AS is no name/);
});

test('sessions list and show → titles and state, never a word of the transcript', async () => {
  const { id } = await makeAccount(service.db);
  const { id: completed } = await makeSession(service.db, id, {
    status: 'completed',
    durationMs: 7_100,
    reservedMs: 7_100,
  });
  const { id: failed } = await makeSession(service.db, id, { status: 'failed' });
  const listed = await admin.json<JsonObject[]>('sessions', 'list', id);
  const told = { accountId: id, title: 'Board meeting', createdAt: aTime, startedAt: aTime, completedAt: aTime };
  expect(listed).toEqual([
    { ...told, id: failed, status: 'failed', errorCode: 'unsupported_media' },
    { ...told, id: completed, status: 'completed', durationMs: 7_100, language: 'en-US' },
  ]);
  expect(await admin.json('sessions', 'show', completed)).toEqual({
    ...listed[1],
    ...{ jobId: anId, reservedMs: 0, attempt: 1, attemptsLeft: 2, freeAttempts: 0 },
  });
  expect(await admin.json('sessions', 'list', id, '--status', 'failed')).toEqual([listed[0]]);
  const shown = await admin.run('sessions', 'show', failed);
  expect(shown.stdout).toMatch(
    /Title +Board meeting\nStatus +failed\nError +unsupported_media: The audio could not be decoded/,
  );
});

test('cancel a queued session → failed with canceled, its reservation and its job are gone; not twice', async () => {
  const account = await makeAccount(service.db, { balanceMs: 60_000 });
  const { sessionId } = await upload(service, account, tone);
  expect(await admin.json('balance', 'show', account.id)).toMatchObject({ reservedMs: 2_000 });
  expect(await admin.json('sessions', 'cancel', sessionId)).toMatchObject({
    ...{ id: sessionId, accountId: account.id, status: 'failed', errorCode: 'canceled', reservedMs: 0 },
  });
  expect(await admin.json('balance', 'show', account.id)).toMatchObject({ balanceMs: 60_000, reservedMs: 0 });
  expect(await jobsOf(service, sessionId)).toMatchObject([{ state: 'cancelled' }]);
  const { body } = await service.get(`/v1/sessions/${sessionId}`, account.key).expect(200);
  expect(body).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
  expect(await admin.run('sessions', 'cancel', sessionId)).toEqual(refused(/is failed already/));
});

test('cancel while a worker runs it → nothing is stored or charged; retry → the same audio is transcribed and charged', async () => {
  const account = await makeAccount(service.db, { balanceMs: 60_000 });
  const begun = Promise.withResolvers<void>();
  const canceled = Promise.withResolvers<void>();
  const recognizer = new ScriptedRecognizer(async ({ earlier }) => {
    if (earlier > 0) return says('the second time');
    begun.resolve();
    await canceled.promise;
    return says('too late');
  });
  const { sessionId } = await upload(service, account, tone);
  const worker = await service.work(recognizer);
  await begun.promise;
  await admin.json('sessions', 'cancel', sessionId);
  const retried = await admin.json('sessions', 'retry', sessionId);
  expect(retried).toMatchObject({ id: sessionId, reservedMs: 2_000 });
  expect(retried).not.toHaveProperty('errorCode');
  canceled.resolve();

  const transcript = await final(service, account, sessionId);
  expect(transcript).toMatchObject({ status: 'completed', segments: [{ text: 'the second time' }] });
  expect(await admin.json('balance', 'show', account.id)).toMatchObject({ balanceMs: 58_000, reservedMs: 0 });
  await worker.stop();
  expect(await admin.run('sessions', 'retry', sessionId)).toEqual(refused(/is completed: only failed ones/));
});

test('retry → a fresh reservation and job; where upload would be refused now, so is this', async () => {
  const account = await makeAccount(service.db, { plan: 'pro', balanceMs: 2_000 });
  const { db } = service;
  const { sessionId } = await upload(service, account, tone);
  await admin.json('sessions', 'cancel', sessionId);
  const retry = () => admin.run('sessions', 'retry', sessionId);

  await admin.json('balance', 'correct', account.id, '-1s', '--reason', 'x');
  expect(await retry()).toEqual(refused(/has 1s available, the audio needs 2s/));
  await credit(db, account.id, 10_000);
  await suspendAccount(db, account.id);
  expect(await retry()).toEqual(refused(/is suspended/));
  await admin.json('accounts', 'resume', account.id);
  await updateAccount(db, account.id, { plan: 'free' });
  expect(await retry()).toEqual(refused(/plan free, which may not transcribe/));
  await updateAccount(db, account.id, { plan: 'pro' });
  await updateAccount(db, account.id, { max_audio_ms: 1_999 });
  expect(await retry()).toEqual(refused(/The audio is 2s long, its account .* may have 1.999s/));
  await updateAccount(db, account.id, { max_audio_ms: null });
  expect(await row(service, account, sessionId)).toMatchObject({ status: 'failed', reserved_ms: 0 });

  expect(await admin.json('sessions', 'retry', sessionId)).toMatchObject({
    ...{ id: sessionId, status: 'queued', reservedMs: 2_000, attemptsLeft: 3 },
  });
  expect(await jobsOf(service, sessionId)).toMatchObject([{ state: 'cancelled' }, { state: 'created' }]);
  expect(await admin.json('balance', 'show', account.id)).toMatchObject({ balanceMs: 11_000, reservedMs: 2_000 });
  expect(await retry()).toEqual(refused(/is queued: only failed ones can be retried/));
});

test('retry of audio that could not be measured → reserves what is available; without audio → refused', async () => {
  const account = await makeAccount(service.db, { plan: 'pro', balanceMs: 60_000 });
  const { sessionId } = await upload(service, account, tone);
  const set = (values: Updateable<SessionTable>) =>
    service.db.updateTable('sessions').set(values).where('id', '=', sessionId).execute();
  await admin.json('sessions', 'cancel', sessionId);
  await set({ duration_ms: null });
  expect(await admin.json('sessions', 'retry', sessionId)).toMatchObject({ reservedMs: 60_000 });
  await admin.json('sessions', 'cancel', sessionId);
  const gone = refused(/audio of session .* is not there any more/);
  await rm(service.audioStore.path(account.id, sessionId));
  expect(await admin.run('sessions', 'retry', sessionId)).toEqual(gone);
  await set({ audio_deleted_at: '2026-01-01T00:00:00Z' });
  expect(await admin.run('sessions', 'retry', sessionId)).toEqual(gone);
  expect(await jobsOf(service, sessionId)).toHaveLength(2);
});

test('delete a queued session → job, reservation, audio, row and idempotency record are gone; a completed one → its charge stays', async () => {
  const account = await makeAccount(service.db, { balanceMs: 60_000 });
  const send = () =>
    service.post('/v1/transcriptions', account.key).set('Idempotency-Key', 'once').attach('file', tone).expect(202);
  const { sessionId } = (await send()).body as { sessionId: string };
  expect(await admin.json('sessions', 'delete', sessionId)).toEqual({
    id: sessionId,
    accountId: account.id,
    deleted: true,
  });
  expect(await jobsOf(service, sessionId)).toMatchObject([{ state: 'cancelled' }]);
  expect(await service.audioStore.exists(account.id, sessionId)).toBe(false);
  expect(await admin.json('balance', 'show', account.id)).toMatchObject({ balanceMs: 60_000, reservedMs: 0 });
  await service.get(`/v1/sessions/${sessionId}`, account.key).expect(404);
  expect(((await send()).body as { sessionId: string }).sessionId).not.toBe(sessionId);

  const { id } = await makeSession(service.db, account.id, { status: 'completed', reservedMs: 7_100 });
  const { stdout } = await admin.run('sessions', 'delete', id);
  expect(stdout).toMatch(/is erased, with its transcript and audio/);
  expect(await service.db.selectFrom('transcripts').selectAll().where('session_id', '=', id).execute()).toEqual([]);
  expect(await admin.json('balance', 'show', account.id)).toMatchObject({ balanceMs: 52_900 });
});

test.each(['show', 'retry', 'cancel', 'delete'])('sessions %s of an unknown session → exit code 1', async (command) => {
  const { id } = await makeAccount(service.db);
  expect(await admin.run('sessions', command, id)).toEqual(refused(`^There is no session ${id}`));
});

test('sessions export → every transcript of the account and of no other, as the API shows it, and a list', async () => {
  const { id, key } = await makeAccount(service.db);
  const { id: session } = await makeSession(service.db, id, { status: 'completed', title: 'Board, "secret"' });
  const { id: failed } = await makeSession(service.db, id, { status: 'failed', title: '=cmd' });
  await makeSession(service.db, (await makeAccount(service.db)).id, { status: 'completed' });
  const file = join(folder, 'acme.zip');
  expect(await admin.json('sessions', 'export', id, '--to', file)).toEqual({
    id,
    file,
    bytes: (await stat(file)).size,
    sessions: 2,
    transcripts: 1,
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  const zip = await contentsOf(file);
  expect(Object.keys(zip).sort()).toEqual([
    'sessions.csv',
    `transcripts/${session}.json`,
    `transcripts/${session}.txt`,
  ]);
  const shown = await service.get(`/v1/sessions/${session}/transcript?include=words`, key);
  const exported = JSON.parse(zip[`transcripts/${session}.json`]!);
  expect(exported.segments).toEqual(shown.body.segments);
  expect(exported.session).toEqual((await service.get(`/v1/sessions/${session}`, key)).body);
  expect(zip[`transcripts/${session}.txt`]).toBe('good morning\nbegin\n');
  expect(zip['sessions.csv']).toMatch(/^session,status,[^]*\r\n$/);
  expect(zip['sessions.csv']).toContain(`,"Board, ""secret""",`);
  expect(zip['sessions.csv']).toMatch(new RegExp(`\r\n${failed},failed,\\S+,'=cmd,`));
  expect(await admin.json('log', '--account', id)).toMatchObject([{ act: 'sessions export' }]);

  // What is there is not replaced.
  const before = await readFile(file);
  expect(await admin.run('sessions', 'export', id, '--to', file)).toEqual(refused(/can not be made \(EEXIST\)/));
  expect((await readFile(file)).equals(before)).toBe(true);
});

async function contentsOf(file: string): Promise<Record<string, string>> {
  const reader = new ZipReader(new BlobReader(await openAsBlob(file)), { useWebWorkers: false });
  const contents: Record<string, string> = {};
  for (const entry of await reader.getEntries()) {
    if (!entry.directory) contents[entry.filename] = await entry.getData(new TextWriter());
  }
  await reader.close();
  return contents;
}
