/** ffmpeg is missing, or crashes. Other jobs go on, and nobody is charged. */
import { chmod, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findExecutable } from '../../src/children/bounded-command.ts';
import { listLedger } from '../../db/accounts/ledger.ts';
import { expectSound } from '../support/service/audit.ts';
import { fakePrograms } from '../support/faults/fake-programs.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { finalRow, row, upload } from '../support/service/jobs.ts';
import { startProcess } from '../support/service/processes.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { voice } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import type { FakePrograms } from '../support/faults/fake-programs.ts';
import type { ServiceProcess } from '../support/service/processes.ts';

const hello = await startHelloServer();
let fakes: FakePrograms;
let worker: ServiceProcess;
let files: { short: string; long: string };
let ffmpeg: string;
/** The real one with less than 2 s of audio, `$input`. */
const ffmpegWithLonger = (misbehave: string) =>
  `for input in "$@"; do case "$input" in file:*) input="\${input#file:}"; break;; esac; done
  if [ "$(stat -c %s "$input")" -gt 64000 ]; then ${misbehave}; else exec ${ffmpeg} "$@"; fi`;

const service = await useService();
const account = await useAccount(service, { balanceMs: 600_000 });
beforeAll(async () => {
  ffmpeg = await findExecutable('ffmpeg');
  files = { short: join(service.dataDir, 'short.wav'), long: join(service.dataDir, 'long.wav') };
  await writeFile(files.short, await voice(1_000));
  await writeFile(files.long, await voice(3_000));
  fakes = await fakePrograms({ ffmpeg: `exec ${ffmpeg} "$@"` });
  // Nothing else is found: what is taken out of this folder is missing.
  for (const name of ['setpriv', 'sh', 'env', 'prlimit', 'unshare', 'test'])
    await symlink(await findExecutable(name), join(fakes.folder, name)).catch(() => {});
  worker = await startProcess('start-worker', env());
});

const env = () => ({
  DATABASE_URL: service.databaseUrl,
  DATA_DIR: service.dataDir,
  PATH: fakes.folder,
  ...hello.env,
});
const charges = async () => (await listLedger(service.db, account.id)).filter(({ kind }) => kind === 'charge').length;

/** Back in the queue with everything that it had. */
async function expectWaiting(sessionId: string): Promise<void> {
  const waiting = await until(
    () => row(service, account, sessionId),
    ({ status, attempt }) => status === 'queued' && attempt > 0,
  );
  expect(waiting).toMatchObject({ attempts_left: 3 });
}

async function expectCompleted(sessionId: string): Promise<void> {
  expect(await finalRow(service, account, sessionId)).toMatchObject({ status: 'completed', error_code: null });
}

async function expectOthersGoOn(): Promise<void> {
  const before = await charges();
  const { sessionId } = await upload(service, account, files.short);
  expect(await finalRow(service, account, sessionId)).toMatchObject({ status: 'completed', attempt: 1 });
  expect(await charges()).toBe(before + 1);
}

test('ffmpeg vanishes, or may not be executed any more → no attempt is spent, back → it goes on by itself', async () => {
  const [program, aside] = [join(fakes.folder, 'ffmpeg'), join(fakes.folder, 'aside')];
  await rename(program, aside);
  const { sessionId } = await upload(service, account, files.long);
  await expectWaiting(sessionId);
  await rename(aside, program);
  await expectCompleted(sessionId);
  await chmod(program, 0o644);
  const next = await upload(service, account, files.long);
  await expectWaiting(next.sessionId);
  await chmod(program, 0o755);
  await expectCompleted(next.sessionId);
  await expectOthersGoOn();
});

test('ffmpeg crashes while it decodes → failed, uncharged, others go on in the same worker, its memory flat', async () => {
  await fakes.write('ffmpeg', ffmpegWithLonger('kill -SEGV $$'));
  const { sessionId } = await upload(service, account, files.long);
  await expectOthersGoOn();
  const failed = { status: 'failed', error_code: 'recognizer_error', attempt: 3 };
  expect(await finalRow(service, account, sessionId)).toMatchObject(failed);
  const peak = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${worker.pid}/status`, 'utf8'))![1];
  expect(Number(peak) / 1024).toBeLessThan(400);
  expect(worker.lines.join('\n')).not.toMatch(/unhandled|uncaught/i);
  expect(await worker.stop()).toBe(0);
  await expectSound(service);
});
