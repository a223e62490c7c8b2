/** What only the operator can put right: it costs no session an attempt, and the worker goes on by itself. */
import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { fakePrograms } from '../../support/faults/fake-programs.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { final, hurryRetries, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { findExecutable } from '../../../src/children/bounded-command.ts';
import { OperatorFault } from '../../../src/ops/operator-fault.ts';
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
const pathOfMachine = process.env.PATH;
beforeAll(async () => void (tone = await ffmpeg(...sine(2), `${folder}/tone.wav`)));
beforeEach(async () => void (account = await makeAccount(service.db, { balanceMs: 60_000 })));
afterEach(async () => {
  process.env.PATH = pathOfMachine;
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

interface Breakage {
  reason: string;
  message: RegExp;
  breakIt: (recognizer: MissingModel) => Promise<() => Promise<void>>;
}

const breakages: Breakage[] = [
  {
    reason: 'program',
    message: /ffmpeg was not found\. Install it: apt-get install ffmpeg/,
    async breakIt() {
      // Everything but ffmpeg.
      const { folder: programs } = await fakePrograms({});
      const limiters = ['setpriv', 'sh', 'env', 'prlimit', 'unshare', 'test'];
      for (const name of limiters) await symlink(await findExecutable(name), join(programs, name));
      process.env.PATH = programs;
      return async () => void (process.env.PATH = pathOfMachine);
    },
  },
  {
    reason: 'store',
    message: /audio is not the audio store of this database: it does not hold its mark/,
    async breakIt() {
      const store = join(service.dataDir, 'audio');
      await rename(store, `${store}-away`);
      return () => rename(`${store}-away`, store);
    },
  },
  {
    reason: 'recognizer',
    message: /the model is gone/,
    async breakIt(recognizer) {
      recognizer.isThere = false;
      return async () => void (recognizer.isThere = true);
    },
  },
];

test.each(breakages)(
  'the operator has to put right: $reason → no attempt is spent, the worker waits, says so once, and goes on by itself',
  async ({ reason, message, breakIt }) => {
    const began = 'worker takes no jobs until';
    const ended = 'worker takes jobs again';
    const before = [told(began).length, told(ended).length];
    const recognizer = new MissingModel();
    const sessions = await Promise.all([1, 2, 3, 4].map(() => upload(service, account, tone)));
    const putRight = await breakIt(recognizer);
    worker = await service.work(recognizer);
    expect(await isWaiting()).toMatch(message);
    expect(await waitingMetric()).toEqual([`transcription_worker_waiting{reason="${reason}"} 1`]);
    // Long enough to meet all of them, if it took any.
    await until(
      () => Promise.all(sessions.map(({ sessionId }) => row(service, account, sessionId))),
      (rows) => rows.every(({ status, attempts_left }) => status === 'queued' && attempts_left === 3),
    );
    expect(told(began).length - before[0]!).toBe(1);
    await putRight();
    for (const { sessionId } of sessions) {
      expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
      expect(await row(service, account, sessionId)).toMatchObject({ attempts_left: 2 });
      const jobs = await jobsOf(service, sessionId);
      expect(jobs.map(({ retry_count }) => retry_count)).toEqual(jobs.map(() => 0));
    }
    expect(worker.notReadyReason()).toBeUndefined();
    expect(await waitingMetric()).toEqual([]);
    expect([told(began).length - before[0]!, told(ended).length - before[1]!]).toEqual([1, 1]);
  },
);

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

/** As often as it takes: what is put off comes at once. */
async function finalWithoutDelays(sessionId: string) {
  const status = async () => {
    await hurryRetries(service);
    return (await row(service, account, sessionId)).status;
  };
  await until(status, (now) => now === 'completed' || now === 'failed');
  return row(service, account, sessionId);
}

test.each([
  ['a disk that says it is full', Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' })],
  ['a program that was killed', new OperatorFault('killed: out of memory?')],
])(
  '%s at one recording only, with all well → it fails after its free attempts, others are not kept waiting',
  async (_, cause) => {
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
    expect(await finalWithoutDelays(doomed.sessionId)).toMatchObject({
      ...{ status: 'failed', error_code: 'recognizer_error', attempts_left: 0, reserved_ms: 0 },
    });
    // Five that were not spent, and three that were.
    expect(recognizer.of(doomed.sessionId)).toBe(8);
    expect(worker.notReadyReason()).toBeUndefined();
  },
);
