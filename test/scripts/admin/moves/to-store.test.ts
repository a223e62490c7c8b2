/** `move --to-store` between two folders, and what it refuses. With a real object store: test/s3/move.test.ts. */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { moveToStore } from '../../../../scripts/admin/moves/to-store.ts';
import { noProgress } from '../../../../scripts/terminal/show-progress.ts';
import { openDatabase } from '../../../../db/connection/database.ts';
import { listSupportLog } from '../../../../db/accounts/support-log.ts';
import { OwnAudioStore } from '../../../../src/files/own-audio-store.ts';
import { FileAudioStore } from '../../../../src/files/file-audio-store.ts';
import { atEnd } from '../../../support/at-end.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { asSupport } from '../../../support/service/admin.ts';
import { createTestDatabase } from '../../../support/service/database.ts';
import { upload } from '../../../support/service/jobs.ts';
import { startTestService } from '../../../support/service/service.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { tone } from '../../../support/uploads/uploads.ts';
import { environmentOf, mistaken, refused, runAdmin } from '../run-admin.ts';
import type { BareAudioStore } from '../../../../src/files/audio-store.ts';

const folder = useFolder();
const { url: databaseUrl, drop } = await createTestDatabase();
atEnd(drop);
const dataDir = join(folder, 'data');
const place = { databaseUrl, dataDir };
const env = environmentOf(place);
const never = new AbortController().signal;
let account: string;
let sessions: string[];

const storeIn = (name: string) => new FileAudioStore(join(folder, name));
const target = (to: BareAudioStore) => ({ to, settings: { AUDIO_STORE: to.place }, removal: 'rm' });
const move = (to: BareAudioStore, signal = never) =>
  asSupport(env, (admin) => moveToStore(admin, target(to), noProgress, signal));
const audioIn = (name: string, session: string) => readFile(join(folder, name, 'audio', account, session));
const marks = async () => {
  const { db, close } = openDatabase(databaseUrl, () => {});
  const { rows } = await sql<{ mark: string; other_mark: string }>`select mark, other_mark from audio_store`
    .execute(db)
    .finally(close);
  return rows[0]!;
};

test('something serves → refused, and nothing was touched', async () => {
  await mkdir(dataDir);
  const service = await startTestService({ beside: place });
  try {
    const owner = await makeAccount(service.db);
    account = owner.id;
    const file = join(folder, 'tone.wav');
    await writeFile(file, await tone(500));
    const sent = async () => (await upload(service, owner, file)).sessionId;
    sessions = [await sent(), await sent(), await sent()];
    const end = await runAdmin(['move', '--to-store', 's3://bucket/audio'], env);
    expect(end).toEqual(refused(/^The service runs on this database: 1 API and 1 worker. Stop every process/));
  } finally {
    await service.stop();
  }
});

test.each([
  [[], 'Type where to: --to-store'],
  [['--to-store', 'file:'], `The audio store is ${dataDir}/audio already.`],
  [['--to-store', 'ftp://bucket'], 'AUDIO_STORE=ftp://bucket: expected file:, or s3://bucket/prefix'],
])('%j → a mistake, with what to type', async (options, sentence) => {
  expect(await runAdmin(['move', ...options], env)).toEqual(mistaken(new RegExp(sentence.replaceAll('.', '\\.'))));
});

test('to S3 from the embedded database → a mistake: its audio lies beside it', async () => {
  const end = await runAdmin(['move', '--to-store', 's3://bucket'], { DATA_DIR: join(folder, 'embedded') });
  expect(end).toEqual(mistaken(/AUDIO_STORE=s3:\/\/bucket: needs a DATABASE_URL/));
});

test('a place with the mark of another database, or with audio → refused', async () => {
  await storeIn('others').writeMark('6ae3cbd7-7d0b-4bd3-8e4b-8e7a3b0b0b0b');
  await expect(move(storeIn('others'))).rejects.toThrow(/holds the mark of another database: choose an empty place/);
  const occupied = join(folder, 'occupied/audio', account);
  await mkdir(occupied, { recursive: true });
  await writeFile(join(occupied, sessions[0]!), 'audio');
  await expect(move(storeIn('occupied'))).rejects.toThrow(/is not empty: it holds .* Choose an empty place/);
});

test('interrupted, and typed again → what is there and equal stays, what differs is sent anew, what is lost is named', async () => {
  const interruption = new AbortController();
  const interrupted = move(new Objects(join(folder, 'new'), () => interruption.abort()), interruption.signal);
  await expect(interrupted).rejects.toThrow(/^Interrupted: \d recordings? copied .* Type the same again/);
  const [before, begun] = [await storeIn('data').readMark(), await storeIn('new').readMark()];
  expect(await marks()).toEqual({ mark: before, other_mark: begun });

  const [equal, other, lost] = sessions as [string, string, string];
  for (const session of [other, lost]) await rm(join(folder, 'new/audio', account, session), { force: true });
  await copyFile(join(dataDir, 'audio', account, equal), join(folder, 'new/audio', account, equal));
  await writeFile(join(folder, 'new/audio', account, other), 'something else');
  await rename(join(dataDir, 'audio', account, lost), join(folder, 'lost'));
  const end = await move(new Objects(join(folder, 'new')));
  expect(end).toMatchObject({
    exitCode: 1,
    json: { recordings: 3, sent: 1, there: 1, unreadable: 1, examples: [lost], verify: { sound: false } },
    text: expect.stringContaining(`1 recording could not be read in ${dataDir}/audio: ${lost}`) as string,
  });
  expect(await audioIn('new', other)).toEqual(await audioIn('data', other));
  expect(await marks()).toEqual({ mark: begun, other_mark: before });

  // The settings are still those of before.
  await rename(join(folder, 'lost'), join(dataDir, 'audio', account, lost));
  const again = await move(new Objects(join(folder, 'new')));
  expect(again).toMatchObject({ exitCode: 0, json: { sent: 1, there: 2, unreadable: 0, verify: { sound: true } } });
});

test('a process with the settings of before → stands still; back → the first store counts again', async () => {
  const { db, close } = openDatabase(databaseUrl, () => {});
  await expect(new OwnAudioStore(db, storeIn('data')).open()).rejects.toThrow('holds the mark of another database');
  const end = await asSupport(env, (admin) =>
    moveToStore({ ...admin, bareStore: storeIn('new') }, target(storeIn('data')), noProgress, never),
  );
  expect(end).toMatchObject({ exitCode: 0, json: { sent: 0, there: 3 } });
  await new OwnAudioStore(db, storeIn('data')).open();
  await expect(new OwnAudioStore(db, storeIn('new')).open()).rejects.toThrow('holds the mark of another database');
  const log = await listSupportLog(db, { limit: 9 });
  expect(log.filter(({ act }) => act === 'move')).toHaveLength(2);
  await close();
});

/** Keeps a copy of what it is given, as an object store does. */
class Objects extends FileAudioStore {
  readonly #onPut: () => void;

  constructor(dataDir: string, onPut = () => {}) {
    super(dataDir);
    this.#onPut = onPut;
  }

  override async put(file: string, accountId: string, sessionId: string): Promise<void> {
    const copy = join(folder, randomUUID());
    await copyFile(file, copy);
    await super.put(copy, accountId, sessionId);
    if (accountId === account) this.#onPut();
  }
}
