/** Which audio a backup holds: what the sessions need at its moment, however short-lived it is. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AudioCopy } from '../../../../scripts/admin/backups/audio-copy.ts';
import { NewBackup, readBackup } from '../../../../scripts/admin/backups/backup-folder.ts';
import { eraseSession } from '../../../../src/sessions/support.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { upload } from '../../../support/service/jobs.ts';
import { useService } from '../../../support/service/use-service.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { tone } from '../../../support/uploads/uploads.ts';

const service = await useService();
const folder = useFolder();

test('audio of before and of the last moment is there, also if it is removed right after; removed before: not', async () => {
  const account = await makeAccount(service.db);
  const file = join(folder, 'tone.wav');
  await writeFile(file, await tone(500));
  const sent = async () => (await upload(service, account, file)).sessionId;
  const [kept, goneBefore] = [await sent(), await sent()];

  const backup = await NewBackup.in(join(folder, 'backup'));
  const audio = new AudioCopy(service, backup);
  await audio.catchUp();
  const atTheLastMoment = await sent();
  const lost = await sent();
  await service.audioStore.remove(account.id, lost);
  await eraseSession(service, goneBefore);
  await audio.hold();
  await eraseSession(service, atTheLastMoment);
  const afterwards = await sent();
  expect(await audio.finish()).toBe(2);
  expect(audio.lost).toEqual([lost]);
  await backup.finish(2);

  const { files } = await readBackup(backup.path);
  const expected = [kept, atTheLastMoment].map((id) => `audio/${account.id}/${id}`);
  expect(files.map(({ name }) => name).sort()).toEqual(expected.sort());
  for (const { name } of files) expect(await readFile(join(backup.path, name))).toEqual(await readFile(file));
  expect(files.map(({ name }) => name).join()).not.toContain(afterwards);
});
