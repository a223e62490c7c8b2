/** A disk that fails below the file system: strace stands for it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeAccount } from '../support/service/accounts.ts';
import { startProcess } from '../support/service/processes.ts';
import { useService } from '../support/service/use-service.ts';
import { expectNothingLeft, filePart, form, formType, tone, traces } from '../support/uploads/uploads.ts';

const service = await useService();

/** strace counts the calls of each thread: there is one only. */
const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir, UV_THREADPOOL_SIZE: '1' };

/** Bounded to these calls by seccomp, so that nothing else is slowed down. The tracer is a grandchild: signals reach Node. */
const strace = ['strace', '-D', '-f', '--seccomp-bpf', '-y', '-e', 'trace=fdatasync,fsync', '-o'];
const startTraced = (seen: string, ...more: string[]) =>
  startProcess('start-api', env, undefined, [...strace, seen, ...more]);

/** How often a start makes each call: it tries the store. */
const ofStart = await countedAtStart(join(process.env.TEST_FOLDER!, 'start'));
async function countedAtStart(seen: string): Promise<Map<string, number>> {
  await (await startTraced(seen)).stop();
  const calls = (await readFile(seen, 'utf8')).matchAll(/ (fsync|fdatasync)\(/g);
  return new Map([...Map.groupBy(calls, ([, call]) => call!)].map(([call, all]) => [call, all.length]));
}

test.each([
  ['while the upload comes', 'fdatasync'],
  ['at its end', 'fsync'],
])('the disk fails a flush %s → 503 and nothing left; the next one → 202, flushed', async (_, call) => {
  const account = await makeAccount(service.db);
  const before = await traces(service, account);
  const seen = join(process.env.TEST_FOLDER!, `flush-${call}`);
  const api = await startTraced(seen, '-e', `inject=${call}:error=EIO:when=${(ofStart.get(call) ?? 0) + 1}`);
  const body = form(filePart(await tone(300_000)));
  const post = () =>
    fetch(`${api.url}/v1/transcriptions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${account.key}`, 'Content-Type': formType },
      body: new Uint8Array(body),
    });
  const refused = await post();
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'unavailable' }]);
  await expectNothingLeft(service, account, before);

  expect((await post()).status).toBe(202);
  const flushes = (await readFile(seen, 'utf8')).split('\n').filter((line) => line.includes('/incoming/'));
  for (const done of [/ fdatasync\(.* = 0/, / fsync\(.* = 0/])
    expect(flushes.some((line) => done.test(line))).toBe(true);
  await api.stop();
});
