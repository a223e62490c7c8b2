/** What the uploads of one account cost the others. */
import { mkdtemp, readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { findExecutable } from '../../src/children/bounded-command.ts';
import { withFfmpeg } from '../support/faults/fake-programs.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { lockWaits } from '../support/service/lock-waits.ts';
import { useService } from '../support/service/use-service.ts';
import { amrWithoutSound, ffmpeg, sine } from '../support/uploads/audio-fixtures.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { expectNothingLeft, filePart, form, tone, traces } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';

const service = await useService();
const folder = useFolder();

test('30 uploads wait for the lock of their account → one connection does, another account reads and uploads', async () => {
  const [busy, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const audio = await tone(100);
  const otherProcess = openDatabase(service.databaseUrl, () => {});
  try {
    const uploads = await inAccountTransaction(otherProcess.db, busy.id, async () => {
      const sent = Array.from({ length: 30 }, () =>
        service.post('/v1/transcriptions', busy.key).attach('file', audio, 'a.wav').expect(202).then(),
      );
      // Measured and stored: all that is left is the transaction.
      await until(async () => (await traces(service, busy)).stored.length === 30);
      await service.get('/v1/sessions', other.key).expect(200);
      await service.post('/v1/transcriptions', other.key).attach('file', audio, 'a.wav').expect(202);
      expect(await lockWaits(otherProcess.db)).toHaveLength(1);
      return sent;
    });
    await Promise.all(uploads);
    expect(await traces(service, busy)).toMatchObject({ sessions: 30, jobs: 30, reservedMs: 3_000 });
  } finally {
    await otherProcess.close();
  }
});

test('files of one account take minutes to be measured → another account uploads meanwhile', async () => {
  const [greedy, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const before = await traces(service, greedy);
  const m4a = await ffmpeg(...sine(1), join(folder, 'short.m4a'));
  const begun = await mkdtemp(join(process.env.TEST_FOLDER!, 'begun-'));
  const body = form(filePart(amrWithoutSound(100), 'endless.amr'));
  // The file that ffmpeg is given is in one of its arguments.
  const script = `case "$*" in *framecrc*) for one; do case "$one" in file:*) input="\${one#file:}";; esac; done
    if [ "$(${await findExecutable('head')} -c 5 "$input")" = '#!AMR' ]; then : > ${begun}/$$; exec ${await findExecutable('sleep')} 600; fi;; esac
    exec ${await findExecutable('ffmpeg')} "$@"`;
  // More than all places.
  const clients = Array.from({ length: 2 * availableParallelism() + 1 }, () => {
    const headers = { Authorization: `Bearer ${greedy.key}`, 'Content-Length': body.length };
    return new RawUpload(service.api.port).head(headers);
  });
  try {
    await withFfmpeg(script, async () => {
      for (const client of clients) client.send(body);
      await until(async () => (await traces(service, greedy)).incoming.length === clients.length);
      await until(async () => (await readdir(begun)).length >= availableParallelism());
      await service.post('/v1/transcriptions', other.key).attach('file', m4a).expect(202);
      expect(await readdir(begun)).toHaveLength(availableParallelism());
    });
  } finally {
    clients.forEach(({ socket }) => socket.destroy());
  }
  await expectNothingLeft(service, greedy, before);
});

test('46 hours of audio in 8 MiB that take minutes to measure → 422 with the limit, nothing is left', async () => {
  const account = await makeAccount(service.db, { limits: { max_audio_ms: 60_000 } });
  const before = await traces(service, account);
  const audio = amrWithoutSound(8 * 1024 * 1024);
  const { body } = await service.post('/v1/transcriptions', account.key).attach('file', audio, 'a.amr').expect(422);
  expect(body).toMatchObject({ code: 'audio_too_long', limitMs: 60_000 });
  await expectNothingLeft(service, account, before);
});
