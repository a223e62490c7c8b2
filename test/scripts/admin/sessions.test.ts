import { openAsBlob } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobReader, TextWriter, ZipReader } from '@zip.js/zip.js';
import { suspendAccount, updateAccount } from '../../../db/accounts/accounts.ts';
import { credit, makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import { aTime, adminOf, anId, refused } from './run-admin.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { Updateable } from 'kysely';
import type { SessionTable } from '../../../db/schema.ts';
import type { JsonObject } from './run-admin.ts';

const service = await useService();
const folder = useFolder();
const admin = adminOf(service);
const tone = await ffmpeg(...sine(2), `${folder}/Board meeting.wav`);

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
  const cut = await admin.run('sessions', 'list', id, '--limit', '1');
  expect(cut).toMatchObject({ code: 0, stderr: 'There are more than these 1: see --limit.\n' });
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
  await expectSound(service);
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
  await expectSound(service);
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
  await expectSound(service);
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
  await expectSound(service);
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
