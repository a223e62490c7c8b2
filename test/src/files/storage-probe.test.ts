/** A store that can't take uploads is found before the first of them comes. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { Spool } from '../../../src/files/spool.ts';
import { StorageProbe, probeStore } from '../../../src/files/storage-probe.ts';
import { S3AudioStore } from '../../../src/files/s3/s3-audio-store.ts';
import { readinessOf } from '../../../src/process/roles.ts';
import { startRefusingStore } from '../../support/faults/refusing-store.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { tone } from '../../support/uploads/uploads.ts';

const dataDir = useFolder();
const spool = new Spool(dataDir);
const objects = await startRefusingStore();
beforeAll(() => spool.open());

const place = {
  ...{ bucket: 'audio', prefix: '', region: 'us-east-1' },
  endpoint: objects.env['AWS_ENDPOINT_URL']!,
};

test('files → it passes, and nothing is left of it', async () => {
  const store = new FileAudioStore(dataDir);
  await store.open();
  await probeStore(store, spool);
  expect(await readdir(join(dataDir, 'audio'))).toEqual(['incoming']);
  expect(await readdir(join(dataDir, 'audio', 'incoming'))).toEqual([]);
});

test.each([
  ['NotImplemented', 'the object store can not be used: NotImplemented: NotImplemented of a test'],
  ['AccessDenied', 'the object store can not be used: AccessDenied: AccessDenied of a test'],
  ['replaces', 'the audio store replaces what it holds: it ignores If-None-Match'],
] as const)('an object store, %s → said, and nothing is left of it', async (uploads, why) => {
  objects.uploads = uploads;
  await expect(probeStore(new S3AudioStore(place), spool)).rejects.toThrow(why);
  expect(objects.keys()).toEqual([]);
  expect(await readdir(join(dataDir, 'audio', 'incoming'))).toEqual([]);
});

test('a service on a store that refuses uploads → said at its start and in /readyz; put right → nothing is said any more', async () => {
  objects.uploads = 'NotImplemented';
  const service = await useService({ env: objects.env });
  const readyz = () => readinessOf(service, () => undefined, () => undefined); // prettier-ignore
  expect(service.logLines.join()).toMatch(/NotImplemented of a test.*the audio store can not be used yet/);
  const notice = expect.stringMatching(/^uploads can not be stored: the object store can not be used: NotImpl/);
  expect(await readyz()).toEqual({ notice });
  objects.uploads = 'taken';
  await service.storageProbe.run();
  expect(await readyz()).toEqual({});

  const account = await makeAccount(service.db);
  const upload = () => service.post('/v1/transcriptions', account.key).attach('file', audio, 'tone.wav');
  const audio = await tone(500);
  objects.uploads = 'AccessDenied';
  await upload().expect(503);
  expect(await readyz()).toEqual({ notice: expect.stringContaining('AccessDenied of a test') });
  objects.uploads = 'taken';
  await upload().expect(202);
  expect(await readyz()).toEqual({});
});

test('a trial that was never made → made when somebody asks', async () => {
  const store = Object.assign(new S3AudioStore(place), { whyNoPuts: undefined });
  objects.uploads = 'AccessDenied';
  const trial = new StorageProbe(store, spool);
  expect(await trial.whyNot(5_000)).toContain('AccessDenied of a test');
});
