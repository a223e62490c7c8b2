/** `admin verify` beside a service at work: nothing that is under way looks like a breach, and a loss still does. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cancelSession, eraseSession, retrySession } from '../../../src/sessions/support.ts';
import { eraseAccount } from '../../../src/sessions/account-erasure.ts';
import { audit } from '../../../src/audit/audit.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { auditedFiles, expectSound } from '../../support/service/audit.ts';
import { final, upload } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { adminOf } from './run-admin.ts';
import type { Audit } from '../../../src/audit/audit.ts';
import type { TestAccount } from '../../support/service/accounts.ts';

const service = await useService();
let file: string;
beforeAll(async () => {
  file = join(await mkdtemp(join(process.env.TEST_FOLDER!, 'busy-')), 'tone.wav');
  await writeFile(file, await tone(500));
});

const brokenRules = ({ checks }: Audit) => checks.filter(({ breaches }) => breaches > 0);
/** No file is too young to be a breach: only what is under way is forgiven. */
const strict = { sweptWithinMs: -Infinity, removedWithinMs: 15_000 };

/** Every third is silent, every fourth fails. */
const recognizer = () => {
  let recognized = 0;
  return new ScriptedRecognizer(async () => {
    recognized += 1;
    if (recognized % 4 === 0) throw new RecognizerError('recognizer_error', 'as the test says', { retryable: false });
    return recognized % 3 === 0 ? { language: 'en-US', segments: [] } : says('hello');
  });
};

/** What clients and support do, one thing after the other, `rounds` times. */
async function keepBusy(account: TestAccount, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const { sessionId } = await upload(service, account, file);
    const other = await upload(service, account, file);
    // Some are final before support gets to them.
    await cancelSession(service, other.sessionId);
    await retrySession(service, other.sessionId);
    await final(service, account, sessionId);
    const erased = await eraseSession(service, round % 2 === 0 ? sessionId : other.sessionId);
    expect(erased).toEqual({ kind: 'erased', accountId: account.id });
  }
  const left = await makeAccount(service.db);
  await Promise.all([upload(service, left, file), upload(service, left, file)]);
  expect(await eraseAccount(service, left.id)).toEqual({ kind: 'erased', sessions: 2, keys: 1 });
}

test('verify again and again while sessions come, end and are erased → never a breach', async () => {
  const worker = await service.work(recognizer());
  const accounts = [await makeAccount(service.db), await makeAccount(service.db), await makeAccount(service.db)];
  let isBusy = true;
  const work = Promise.all(accounts.map((account) => keepBusy(account, 15))).finally(() => (isBusy = false));

  const { db, dataDir } = service;
  const audited = { db, ...auditedFiles(dataDir) };
  let looks = 0;
  let sessionsSeen = 0;
  while (isBusy) {
    const found =
      looks % 10 === 5 ? await adminOf(service).json<Audit>('verify') : await audit(audited, { grace: strict });
    expect(brokenRules(found)).toEqual([]);
    looks += 1;
    sessionsSeen += found.checks.find(({ id }) => id === 'unfinished_has_job')!.checked;
  }
  await work;
  await worker.stop();
  // It was looked at while something was under way.
  expect(looks).toBeGreaterThan(3);
  expect(sessionsSeen).toBeGreaterThan(0);
  await expectSound(service);
});

test('audio that is lost while the service works → reported', async () => {
  const account = await makeAccount(service.db);
  const { sessionId } = await upload(service, account, file);
  await rm(service.audioStore.path(account.id, sessionId));
  const { code, stdout } = await adminOf(service).run('verify', '--json');
  expect(code).toBe(1);
  expect(brokenRules(JSON.parse(stdout) as Audit)).toMatchObject([
    { id: 'unfinished_has_audio', breaches: 1, examples: [sessionId] },
  ]);
});
