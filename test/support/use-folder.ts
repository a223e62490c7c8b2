import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './at-end.ts';

/** A folder of the test file's own, there at once and removed after its tests. */
export function useFolder(): string {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'files-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
