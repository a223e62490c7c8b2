import { listLedger } from '../../../db/accounts/ledger.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';
import type { TestAccount } from '../../support/service/accounts.ts';

const service = await useService();
const folder = useFolder();
let account: TestAccount;
beforeAll(async () => {
  await ffmpeg(...sine(2), `${folder}/tone.wav`);
});
beforeEach(async () => void (account = await makeAccount(service.db, { balanceMs: 60_000 })));
afterEach(() => expectSound(service));

test('ten stops of the worker during one job → no attempt is spent, the client sees one job, it completes', async () => {
  const done = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    options.onProgress?.(1);
    await done.passed(options.signal);
    return says('patience');
  });
  const { sessionId, jobId } = await upload(service, account, `${folder}/tone.wav`);
  for (let round = 1; round <= 10; round++) {
    const worker = await service.work(recognizer);
    await until(
      () => recognizer.calls.length,
      (calls) => calls === round,
    );
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
  const worker = await service.work(recognizer);
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
  await worker.stop();
  expect((await listLedger(service.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
});

test('a stop while jobs are being taken → afterwards nothing runs and every session is queued with a live job', async () => {
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await gate().passed(options.signal);
    return says('never');
  });
  const sessions = await Promise.all(Array.from({ length: 6 }, () => upload(service, account, `${folder}/tone.wav`)));
  for (let round = 0; round < 10; round++) {
    const worker = await service.work(recognizer);
    // At once, so that it meets fetches and claims under way.
    await worker.stop();
    expect(recognizer.running(account.id)).toBe(0);
    for (const { sessionId } of sessions) {
      expect(await row(service, account, sessionId)).toMatchObject({ status: 'queued', attempts_left: 3 });
    }
    await expectSound(service);
  }
  const worker = await service.work(new ScriptedRecognizer());
  for (const { sessionId } of sessions) await final(service, account, sessionId);
  await worker.stop();
});
