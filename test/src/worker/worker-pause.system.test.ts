/** What only the operator can put right: it costs no session an attempt, and the worker goes on by itself. */
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { final, finalRow, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { DependencyError } from '../../../src/ops/dependency-error.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { Script } from '../../support/models/scripted-recognizer.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { Worker } from '../../../src/worker/worker.ts';

const service = await useService({ env: { WORKER_CONCURRENCY: '2' } });
const folder = useFolder();
let tone: string;
let account: TestAccount;
let worker: Worker | undefined;
beforeAll(async () => void (tone = await ffmpeg(...sine(2), `${folder}/tone.wav`)));
beforeEach(async () => void (account = await makeAccount(service.db, { balanceMs: 60_000 })));
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await expectSound(service);
});
class MissingModel extends ScriptedRecognizer {
  isThere = true;
  constructor() {
    super(async () => {
      if (this.isThere) return says('there again');
      throw new RecognizerError('recognizer_error', 'no such file', { retryable: false });
    });
  }
  override async check(): Promise<void> {
    if (!this.isThere) throw new RecognizerError('recognizer_error', 'the model is gone', { retryable: true });
  }
}

const told = (message: string) => service.logLines.filter((line) => line.includes(message));
const waitingMetric = async () => {
  const text = await service.metrics.registry.getSingleMetricAsString('transcription_worker_waiting');
  return text.split('\n').filter((line) => line.endsWith(' 1'));
};
const isWaiting = () =>
  until(
    () => worker!.notReadyReason(),
    (why) => why !== undefined,
  );

test('the operator has to put right the recognizer → no attempt is spent, the worker waits, says so once, and goes on by itself', async () => {
  const recognizer = new MissingModel();
  const sessions = await Promise.all([1, 2, 3, 4].map(() => upload(service, account, tone)));
  recognizer.isThere = false;
  worker = await service.work(recognizer);
  expect(await isWaiting()).toMatch(/the model is gone/);
  expect(await waitingMetric()).toEqual(['transcription_worker_waiting{reason="recognizer"} 1']);
  // Long enough to meet all of them, if it took any.
  await until(
    () => Promise.all(sessions.map(({ sessionId }) => row(service, account, sessionId))),
    (rows) => rows.every(({ status, attempts_left }) => status === 'queued' && attempts_left === 3),
  );
  recognizer.isThere = true;
  for (const { sessionId } of sessions) {
    expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
    expect(await row(service, account, sessionId)).toMatchObject({ attempts_left: 2 });
    const jobs = await jobsOf(service, sessionId);
    expect(jobs.map(({ retry_count }) => retry_count)).toEqual(jobs.map(() => 0));
  }
  expect(worker.notReadyReason()).toBeUndefined();
  expect(await waitingMetric()).toEqual([]);
  expect([told('worker takes no jobs until').length, told('worker takes jobs again').length]).toEqual([1, 1]);
});

test('a worker that waits for the operator is stopped → at once, and what it was to do stays queued', async () => {
  const recognizer = new MissingModel();
  recognizer.isThere = false;
  const { sessionId } = await upload(service, account, tone);
  worker = await service.work(recognizer);
  await isWaiting();
  await worker.stop();
  expect(await row(service, account, sessionId)).toMatchObject({ status: 'queued', attempts_left: 3 });
  worker = await service.work(new ScriptedRecognizer());
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
});

test('a program that is killed at one recording only, with all well → it fails after its free attempts, others are not kept waiting', async () => {
  const cause = new DependencyError('killed: out of memory?');
  const script: Script = async ({ sessionId }) => {
    if (sessionId !== doomed.sessionId) return says('fine');
    throw new RecognizerError('recognizer_error', 'as the test says', { retryable: true, cause });
  };
  const doomed = await upload(service, account, tone);
  const recognizer = new ScriptedRecognizer(script);
  worker = await service.work(recognizer);
  await until(() => recognizer.of(doomed.sessionId));
  const other = await upload(service, account, tone);
  expect(await final(service, account, other.sessionId)).toMatchObject({ status: 'completed' });
  expect(await finalRow(service, account, doomed.sessionId)).toMatchObject({
    ...{ status: 'failed', error_code: 'recognizer_error', attempts_left: 0, reserved_ms: 0 },
  });
  // Five that were not spent, and three that were.
  expect(recognizer.of(doomed.sessionId)).toBe(8);
  expect(worker.notReadyReason()).toBeUndefined();
});
