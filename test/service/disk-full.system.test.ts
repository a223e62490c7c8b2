/** The disk of DATA_DIR is full, PostgreSQL's is not. A full disk refuses an upload and keeps jobs waiting. It costs no attempt. */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findExecutable } from '../../src/children/bounded-command.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { listLedger } from '../../db/accounts/ledger.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { ffmpeg } from '../support/uploads/audio-fixtures.ts';
import { clientOf } from '../support/clients/client.ts';
import { afterFile, fakePrograms } from '../support/faults/fake-programs.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { steadyPort } from '../rig/ports.ts';
import { startProcess } from '../support/service/processes.ts';
import { useService } from '../support/service/use-service.ts';
import { canMountDisks, smallDisk } from '../support/faults/small-disk.ts';
import { tone, voice } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import type { TestAccount } from '../support/service/accounts.ts';

const mebibyte = 1024 * 1024;
const service = await useService();
const folder = useFolder();

const session = async (account: TestAccount, id: string) => (await findSessionRow(service.db, account.id, id))!;
const fill = (folderOfDisk: string, bytes: number) => writeFile(join(folderOfDisk, 'filler'), Buffer.alloc(bytes));

test('a disk that is full before a job or fills up while it decodes → no attempt is spent, and on it goes with room', async () => {
  // Where mounting is forbidden, the unit tests of both stand for it (api/uploads/receiving.test.ts, audio/refusals.system.test.ts).
  if (!canMountDisks()) return;
  const account = await makeAccount(service.db, { balanceMs: 3_600_000 });
  const short = join(folder, 'short.wav');
  await writeFile(short, await voice(1_000));
  // A voice and a long silence: small as it comes, 6 MiB decoded.
  const padded = ['-i', short, '-af', 'apad=whole_dur=200'];
  const long = await ffmpeg(...padded, '-c:a', 'libmp3lame', '-b:a', '8k', `${folder}/long.mp3`);
  const huge = join(folder, 'huge.wav');
  // 3.5 MB, for which there is no room; a refusal reads up to 4 MiB more, so that such a client sees it.
  await writeFile(huge, await tone(110_000));

  // Decoding begins when the test says so.
  const programs = await fakePrograms({});
  const [begun, go] = [join(programs.folder, 'begun'), join(programs.folder, 'go')];
  const real = await findExecutable('ffmpeg');
  await chmod(programs.folder, 0o777);
  const waiting = `case "$*" in *'-f smjpeg'*) : > '${begun}'; ${afterFile(go, ':')};; esac; exec '${real}' "$@"`;
  await programs.write('ffmpeg', waiting);
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'disk-'));
  const [opsPort, hello] = [await steadyPort(), await startHelloServer()];
  // The store of the next process that starts becomes the database's own.
  await service.db.deleteFrom('audio_store').execute();
  const env = {
    ...{ DATABASE_URL: service.databaseUrl, DATA_DIR: dataDir, OPS_PORT: String(opsPort) },
    ...{ PATH: programs.path, ...hello.env },
  };
  const running = await startProcess('start', env, undefined, smallDisk(dataDir, '16m'));
  const disk = join('/proc', String(running.pid), 'root', dataDir);
  const client = clientOf(running.url, account.key);
  const ops = async (page: string) => {
    const answer = await fetch(`http://127.0.0.1:${opsPort}/${page}`);
    return { status: answer.status, text: await answer.text() };
  };
  const expectToWaitForRoom = async () => {
    const ready = await until(
      () => ops('readyz'),
      ({ status }) => status === 503,
    );
    const why = /^the worker takes no jobs until this has been put right: the disk of DATA_DIR has no room/;
    expect(ready.text).toMatch(why);
    expect((await ops('metrics')).text).toContain('transcription_worker_waiting{reason="disk"} 1');
  };

  await fill(disk, 13 * mebibyte);
  const { status, code, headers } = await client.upload(huge);
  expect([status, code]).toEqual([503, 'unavailable']);
  expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(await readdir(join(disk, 'audio', 'incoming'))).toEqual([]);

  const waits = await client.accepted(long);
  await expectToWaitForRoom();
  const behind = await client.accepted(short);
  for (const id of [waits, behind])
    expect(await session(account, id)).toMatchObject({ status: 'queued', attempt: 0, attempts_left: 3 });

  await rm(join(disk, 'filler'));
  await until(() => existsSync(begun));
  expect((await ops('readyz')).status).toBe(200);
  // To the last byte: what is free when the first samples come.
  const { bavail, bsize } = await statfs(disk);
  await fill(disk, bavail * bsize);
  await writeFile(go, '');
  await expectToWaitForRoom();
  const rows = () => Promise.all([waits, behind].map((id) => session(account, id)));
  const handedBack = await until(rows, (all) => all.every(({ status }) => status === 'queued'));
  expect(handedBack).toMatchObject(Array(2).fill({ attempts_left: 3, last_error_code: null }));
  expect(await readdir(join(disk, 'work'))).toEqual([]);

  await rm(join(disk, 'filler'));
  for (const id of [waits, behind]) {
    expect(await client.final(id)).toMatchObject({ status: 'completed' });
    expect(await session(account, id)).toMatchObject({ attempts_left: 2 });
  }
  expect((await ops('readyz')).status).toBe(200);
  const charges = (await listLedger(service.db, account.id)).filter(({ kind }) => kind === 'charge');
  expect(charges).toHaveLength(2);
  for (const line of ['worker takes no jobs until', 'worker takes jobs again'])
    expect(running.lines.filter((text) => text.includes(line))).toHaveLength(2);
  expect(running.lines.join('\n')).not.toMatch(/unhandled|uncaught/i);
  expect(await running.stop()).toBe(0);
});
