/** The object store of a test file. */
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { here, steadyPort } from '../rig/place.ts';
import { keys, startObjectStore } from '../rig/object-store.ts';
import { atEnd } from '../support/at-end.ts';
import { useFolder } from '../support/use-folder.ts';
import type { ObjectStore } from '../rig/object-store.ts';

/** A store with an empty bucket `audio`, gone after the last test of the file. */
export async function useObjectStore(): Promise<ObjectStore> {
  const program = process.env['VERSITYGW'];
  if (program === undefined) throw new Error('Type npm run test:s3, which says where the object store is.');
  // The SDK of this process looks for them there, as that of a service does.
  Object.assign(process.env, keys);
  const root = useFolder();
  const store = await startObjectStore(here('store'), program, root, await steadyPort());
  atEnd(() => store.machine.kill());
  return store;
}

/** Puts an object there without asking anybody. */
export async function place({ folder }: ObjectStore, key: string): Promise<void> {
  await mkdir(dirname(join(folder, key)), { recursive: true });
  await writeFile(join(folder, key), 'audio');
}

/** Makes an object or an upload so much older, by the clock of the store. */
export async function age(path: string, ms: number): Promise<void> {
  const then = new Date(Date.now() - ms);
  await utimes(path, then, then);
}

/** Takes a bucket away. */
export const loseBucket = ({ folder }: ObjectStore) => rm(folder, { recursive: true });
