import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { suspendAccount, updateAccount } from '../../../db/accounts/accounts.ts';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, pictures, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, finalRow, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { indexBacklog } from '../../../src/worker/backlog.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { Call } from '../../support/models/scripted-recognizer.ts';
import type { Worker } from '../../../src/worker/worker.ts';

const service = await useService();
const folder = useFolder();
let tone: string;
let account: TestAccount;
let worker: Worker | undefined;
beforeAll(async () => {
  tone = await ffmpeg(...sine(2), `${folder}/tone.wav`);
});
beforeEach(async () => void (account = await makeAccount(service.db, { balanceMs: 60_000 })));
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await expectSound(service);
});

const begin = async (script?: (call: Call) => Promise<ReturnType<typeof says>>) => {
  const recognizer = new ScriptedRecognizer(script);
  worker = await service.work(recognizer);
  return recognizer;
};
const audioPath = (sessionId: string) => service.audioStore.path(account.id, sessionId);
async function expectFailedUncharged(sessionId: string, code: string): Promise<void> {
  expect(await finalRow(service, account, sessionId)).toMatchObject({ error_code: code, reserved_ms: 0 });
  const transcript = await final(service, account, sessionId);
  expect(transcript).toMatchObject({ status: 'failed', error: { code }, segments: [] });
  expect((await listLedger(service.db, account.id)).map((entry) => entry.kind)).toEqual(['credit']);
  // Kept for a week: support may try again.
  expect((await row(service, account, sessionId)).audio_deleted_at).toBeNull();
}

const replaceBy =
  (...input: string[]) =>
  (path: string) =>
    ffmpeg(...input, '-f', 'wav', path);
test.each<
  [string, string, (path: string) => Promise<unknown>, { balanceMs?: number; max_audio_ms?: number; seconds?: number }]
>([
  ['can not be decoded', 'unsupported_media', (path) => writeFile(path, Buffer.alloc(4096, 7)), {}],
  ['has no audio track', 'no_audio_track', (path) => ffmpeg(...pictures(1), '-f', 'matroska', path), {}],
  ['is longer than the account might upload', 'audio_too_long', replaceBy(...sine(20)), { max_audio_ms: 3_000 }],
  ['is longer than the balance covers', 'insufficient_balance', replaceBy(...sine(61)), {}],
  // No tolerance.
  [
    'was measured as 10 ms, and is a second',
    'insufficient_balance',
    replaceBy(...sine(1)),
    { balanceMs: 10, seconds: 0.01 },
  ],
])('a file that %s → failed at once with %s, uncharged, nothing recognized', async (_, code, replace, given) => {
  const { balanceMs = 60_000, max_audio_ms, seconds = 2 } = given;
  account = await makeAccount(service.db, { balanceMs });
  if (max_audio_ms !== undefined) await updateAccount(service.db, account.id, { max_audio_ms });
  const { sessionId } = await upload(service, account, await ffmpeg(...sine(seconds), `${folder}/${code}.wav`));
  await replace(audioPath(sessionId));
  const recognizer = await begin();
  await expectFailedUncharged(sessionId, code);
  expect(recognizer.calls).toEqual([]);
  expect((await row(service, account, sessionId)).attempt).toBe(1);
});

test('audio that decodes to much less than was measured, and again → what there is, charged as that', async () => {
  const { sessionId } = await upload(service, account, tone);
  await ffmpeg(...sine(0.5), '-f', 'wav', audioPath(sessionId));
  await begin();
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed', durationMs: 500 });
  expect(await row(service, account, sessionId)).toMatchObject({ measured_ms: 2_000, confirmed_short: true });
  expect((await listLedger(service.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -500]);
});

test('a search index that refuses → the transcript is stored and charged', async () => {
  await sql`alter table passages add constraint refused check (not of_transcript) not valid`.execute(service.db);
  const { sessionId } = await upload(service, account, tone);
  const recognizer = await begin();
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed', durationMs: 2_000 });
  expect(recognizer.calls).toHaveLength(1);
  expect((await listLedger(service.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
  await sql`alter table passages drop constraint refused`.execute(service.db);
  await indexBacklog({ ...service, stopping: new AbortController().signal });
});

test('downgraded and suspended after the upload → what was accepted is finished and charged', async () => {
  const { sessionId } = await upload(service, account, tone);
  await updateAccount(service.db, account.id, { plan: 'free' });
  await suspendAccount(service.db, account.id);
  await begin(async () => says('still heard'));
  await until(
    async () => (await row(service, account, sessionId)).status,
    (now) => now === 'completed',
  );
  expect((await listLedger(service.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
});

test('more decoded than reserved, covered by the balance → reserved before recognition, charged in full', async () => {
  const { sessionId } = await upload(service, account, tone);
  await ffmpeg(...sine(20), '-f', 'wav', audioPath(sessionId));
  const seen: number[] = [];
  await begin(async () => {
    seen.push((await row(service, account, sessionId)).reserved_ms);
    return says('much longer');
  });
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed', durationMs: 20_000 });
  expect(seen).toEqual([20_000]);
  expect((await listLedger(service.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -20_000]);
  // The auditor would report it, since the file is another than the one that was measured.
  await sql`update sessions set measured_ms = 20_000 where id = ${sessionId}`.execute(service.db);
});

test('decoded a second longer than reserved, nothing left → within the tolerance, charged, below zero by that', async () => {
  account = await makeAccount(service.db, { balanceMs: 2_000 });
  const { sessionId } = await upload(service, account, tone);
  await ffmpeg(...sine(3), '-f', 'wav', audioPath(sessionId));
  await begin();
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed', durationMs: 3_000 });
  expect((await listLedger(service.db, account.id)).map((entry) => entry.amount_ms)).toEqual([2_000, -3_000]);
});

test('a recognizer that fails twice, then succeeds → completed, charged once, every attempt used', async () => {
  const { sessionId } = await upload(service, account, tone);
  const recognizer = await begin(async ({ earlier }) => {
    if (earlier < 2) throw new RecognizerError('recognizer_error', 'out of memory', { retryable: true });
    return says('third time lucky');
  });
  const session = await finalRow(service, account, sessionId);
  expect(session).toMatchObject({ attempt: 3, attempts_left: 0, last_error_code: null });
  const { segments } = await final(service, account, sessionId);
  expect(segments.map(({ text }) => text)).toEqual(['third time lucky']);
  expect(recognizer.of(sessionId)).toBe(3);
  expect((await listLedger(service.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
});

test.each(['recognizer_error', 'timed_out'] as const)(
  'a recognizer that always fails with %s → three attempts, then failed with that code',
  async (code) => {
    const { sessionId } = await upload(service, account, tone);
    const recognizer = await begin(async () => {
      throw new RecognizerError(code, 'secret from inside', { retryable: true });
    });
    await expectFailedUncharged(sessionId, code);
    expect(recognizer.of(sessionId)).toBe(3);
    const { rows } = await sql<{ row: string }>`select row_to_json(job)::text as row from pgboss.job`.execute(
      service.db,
    );
    expect(rows.map(({ row: text }) => text).join()).not.toContain('secret from inside');
  },
);

test('an attempt beyond its time limit → aborted, and timed_out when no attempt is left', async () => {
  const { sessionId } = await upload(service, account, tone);
  // 30 s of it are the margin for ending the attempt.
  await sql`update pgboss.job set expire_seconds = 36 where name = 'transcription'`.execute(service.db);
  await sql`update sessions set attempts_left = 1 where id = ${sessionId}`.execute(service.db);
  const reasons: unknown[] = [];
  await begin(async ({ options: { signal } }) => {
    // On a busy machine, its time may be up when it has been decoded.
    if (!signal.aborted) await once(signal, 'abort');
    reasons.push(signal.reason);
    throw signal.reason;
  });
  await expectFailedUncharged(sessionId, 'timed_out');
  expect(reasons).toEqual([expect.objectContaining({ name: 'AttemptTimedOut' })]);
});

test('three stops of the worker during one job → progress seen and gone, no attempt is spent, the client sees one job, it completes', async () => {
  const done = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    options.onProgress?.(1);
    await done.passed(options.signal);
    return says('patience');
  });
  const { sessionId, jobId } = await upload(service, account, tone);
  for (let round = 1; round <= 3; round++) {
    worker = await service.work(recognizer);
    await until(
      () => recognizer.calls.length,
      (calls) => calls === round,
    );
    // Written every two seconds: seen once.
    const reported = async () => (await row(service, account, sessionId)).progress;
    if (round === 1) await until(reported, (progress) => progress === 1);
    await worker.stop();
    expect(recognizer.running(account.id)).toBe(0);
    expect(await row(service, account, sessionId)).toMatchObject({
      ...{ status: 'queued', progress: null, attempts_left: 3, attempt: round, job_id: jobId, reserved_ms: 2_000 },
    });
    const jobs = await jobsOf(service, sessionId);
    expect(jobs.map(({ state }) => state)).toEqual([...Array<string>(round).fill('completed'), 'created']);
    await expectSound(service);
  }
  done.open();
  worker = await service.work(recognizer);
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
  expect((await listLedger(service.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
});

test('a stop while jobs are being taken → afterwards nothing runs and every session is queued with a live job', async () => {
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await gate().passed(options.signal);
    return says('never');
  });
  const sessions = await Promise.all(Array.from({ length: 6 }, () => upload(service, account, tone)));
  for (let round = 0; round < 5; round++) {
    worker = await service.work(recognizer);
    // At once, so that it meets fetches and claims under way.
    await worker.stop();
    expect(recognizer.running(account.id)).toBe(0);
    for (const { sessionId } of sessions) {
      expect(await row(service, account, sessionId)).toMatchObject({ status: 'queued', attempts_left: 3 });
    }
    await expectSound(service);
  }
  worker = await service.work(new ScriptedRecognizer());
  for (const { sessionId } of sessions) await final(service, account, sessionId);
  await worker.stop();
});
