/** Uploads of two processes on one folder: the tested one, and one that was killed. */
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { keepRemovingAbandonedUploads, removeAbandonedUploads, Spool } from '../../../src/files/spool.ts';
import { jest } from '../../support/run/jest.ts';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { createLog } from '../../../src/ops/log.ts';
import { holdTheClock } from '../../support/faults/held-clock.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const log = createLog({ logLevel: 'silent' });
let stop: () => Promise<void> = async () => {};
afterEach(async () => {
  jest.useRealTimers();
  await stop();
});

async function begin(spool: Spool): Promise<string> {
  const path = spool.newPath();
  await writeFile(path, 'half of an upload');
  return path;
}
const touchedAt = async (path: string) => (await stat(path)).mtimeMs;

test('an upload of a killed process → removed after 3 minutes, one that still comes in is not', async () => {
  const [ours, killed] = [new Spool(folder), new Spool(folder)];
  await ours.open();
  const [living, dead] = [await begin(ours), await begin(killed)];
  holdTheClock('intervals', 'performance');
  stop = keepRemovingAbandonedUploads(ours, log);
  const lookAgain = async () => {
    const before = await touchedAt(living);
    // Files are touched with whole milliseconds.
    await until(() => Date.now() > before);
    jest.advanceTimersByTime(30_000);
    // Each look begins when the one before has ended.
    await until(
      () => touchedAt(living),
      (after) => after > before,
    );
  };
  const incoming = () => readdir(join(folder, 'audio', 'incoming'));
  for (let look = 0; look < 6; look += 1) await lookAgain();
  // The killed process's file was met first 3 minutes ago at the earliest; a younger one was met just now.
  const younger = await begin(killed);
  expect(await incoming()).toContain(basename(younger));
  await until(incoming, (names) => !names.includes(basename(dead)));
  for (let look = 0; look < 3; look += 1) await lookAgain();
  expect((await incoming()).toSorted()).toEqual([basename(living), basename(younger)].toSorted());
});

test('uploads that became sessions or were refused → not touched any more', async () => {
  const [store, spool] = [new FileAudioStore(folder), new Spool(folder)];
  await spool.open();
  const [kept, refused] = [await begin(spool), await begin(spool)];
  await store.put(kept, 'account', 'session');
  for (const path of [kept, refused]) await spool.remove(path);
  const before = await touchedAt(store.path('account', 'session'));
  stop = keepRemovingAbandonedUploads(spool, log);
  await stop();
  expect(await touchedAt(store.path('account', 'session'))).toBe(before);
});

test("what can't be removed → keeps no other upload, and is logged", async () => {
  const [ours, killed] = [new Spool(folder), new Spool(folder)];
  await ours.open();
  const lines: string[] = [];
  const warnings = createLog({ logLevel: 'warn' }, { write: (line) => void lines.push(line) });
  const dead = await begin(killed);
  // Nobody removes a folder as a file, whatever his rights.
  for (const name of ['0', 'z']) await mkdir(join(folder, 'audio', 'incoming', name));
  const met = await removeAbandonedUploads(ours, warnings, new Map(), 0);
  await removeAbandonedUploads(ours, warnings, met, 4 * 60_000);
  expect(await readdir(join(folder, 'audio', 'incoming'))).not.toContain(basename(dead));
  expect(lines.filter((line) => line.includes('an abandoned upload was not removed yet'))).toHaveLength(2);
});
