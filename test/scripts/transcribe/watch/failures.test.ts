import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeNotice, writeNotice } from '../../../../scripts/transcribe/watch/failures.ts';
import { isThere } from '../../../../scripts/transcribe/results.ts';
import { useFolder } from '../../../support/use-folder.ts';

const out = useFolder();

test("somebody's file under the name of a notice → neither overwritten nor removed", async () => {
  const path = join(out, 'talk.wav.failed.txt');
  await writeFile(path, 'My notes.\n');
  await writeNotice(out, 'talk.wav', 'It is no audio.');
  await removeNotice(out, 'talk.wav');
  expect(await readFile(path, 'utf8')).toBe('My notes.\n');
});

test('a notice → replaced by the next one, and removed with it', async () => {
  const path = join(out, 'other.wav.failed.txt');
  for (const why of ['It is no audio.', 'It is too long.']) {
    await writeNotice(out, 'other.wav', why);
    expect(await readFile(path, 'utf8')).toContain(why);
  }
  await removeNotice(out, 'other.wav');
  expect(await isThere(path)).toBe(false);
});
