/** The disk of DATA_DIR is full, PostgreSQL's is not. A full disk costs an upload or an attempt, and never the service. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { listLedger } from '../../db/ledger.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { ffmpeg, noise } from '../support/uploads/audio-fixtures.ts';
import { clientOf } from '../support/clients/client.ts';
import { fakePrograms, saysHello } from '../support/faults/fake-programs.ts';
import { hurryRetries } from '../support/service/jobs.ts';
import { killLeftovers, startProcess } from '../support/service/processes.ts';
import { atEnd } from '../support/at-end.ts';
import { useService } from '../support/service/use-service.ts';
import { canMountDisks, smallDisk } from '../support/faults/small-disk.ts';
import { tone } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';

const mebibyte = 1024 * 1024;
const service = useService();
const folder = useFolder();
beforeAll(() => atEnd(killLeftovers));

test('a disk that fills up during uploads and while jobs decode → 503 and failed attempts, and on it goes with room', async () => {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'disk-'));
  // Where mounting is forbidden, the unit tests of both stand for it (upload.test.ts, audio/refusals.test.ts).
  if (!canMountDisks()) return;
  const account = await makeAccount(service.db, { balanceMs: 3_600_000 });
  // Small as it comes, 6 MiB decoded, and as much again for its pieces.
  const long = await ffmpeg(...noise(200), '-c:a', 'libmp3lame', '-b:a', '8k', `${folder}/long.mp3`);
  const short = join(folder, 'short.wav');
  await writeFile(short, await tone(1_000));
  const huge = join(folder, 'huge.wav');
  // 3.5 MB, for which there is no room; a refusal reads up to 4 MiB more, so that such a client sees it.
  await writeFile(huge, await tone(220_000));

  const { path } = await fakePrograms({ pocketsphinx_continuous: saysHello });
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: dataDir, PATH: path };
  const running = await startProcess('start', env, undefined, smallDisk(dataDir, '16m'));
  const disk = join('/proc', String(running.pid), 'root', dataDir);
  const client = clientOf(running.url, account.key);
  const uploaded = async (file: string) => {
    const { status, text } = await client.upload(file);
    expect(status).toBe(202);
    return (JSON.parse(text) as { sessionId: string }).sessionId;
  };
  const session = async (id: string) => (await findSessionRow(service.db, account.id, id))!;
  // An attempt tidies up after the transaction that tells of its end.
  const workFolderIsEmpty = () =>
    until(
      () => readdir(join(disk, 'work')),
      (names) => names.length === 0,
    );
  const fill = () => writeFile(join(disk, 'filler'), Buffer.alloc(13 * mebibyte));

  await fill();
  const { status, code, headers } = await client.upload(huge);
  expect([status, code]).toEqual([503, 'unavailable']);
  expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(await readdir(join(disk, 'audio', 'incoming'))).toEqual([]);

  const waits = await uploaded(long);
  await until(
    () => session(waits),
    (row) => row.last_error_code !== null,
  );
  await workFolderIsEmpty();
  expect(await client.final(await uploaded(short))).toMatchObject({ status: 'completed' });
  await workFolderIsEmpty();
  await rm(join(disk, 'filler'));
  await hurryRetries(service);
  expect(await client.final(waits)).toMatchObject({ status: 'completed' });

  await workFolderIsEmpty();
  await fill();
  const fails = await uploaded(long);
  const ends = async () => {
    await hurryRetries(service);
    return session(fails);
  };
  await until(ends, (row) => row.status === 'failed');
  expect(await session(fails)).toMatchObject({ error_code: 'recognizer_error', attempt: 3, reserved_ms: 0 });
  await workFolderIsEmpty();
  expect(await client.final(await uploaded(short))).toMatchObject({ status: 'completed' });

  const charges = (await listLedger(service.db, account.id)).filter(({ kind }) => kind === 'charge');
  expect(charges).toHaveLength(3);
  expect(running.lines.join('\n')).not.toMatch(/unhandled|uncaught/i);
  process.kill(running.pid, 'SIGTERM');
  expect(await running.ended).toBe(0);
}, 120_000);
