/** The object store on a machine of its own: versitygw, with its objects in a folder. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Machine } from './machine.ts';
import type { Place } from './network.ts';

const keys = { AWS_ACCESS_KEY_ID: 'access-of-tests', AWS_SECRET_ACCESS_KEY: 'secret-of-tests' };
const [bucket, prefix] = ['audio', 'fleet'];
const port = 9000;

export interface ObjectStore {
  machine: Machine;
  /** What an operator sets. */
  env: Record<string, string>;
  /** Names of all objects, seen from behind. */
  objects(): Promise<string[]>;
}

/** Up, with an empty bucket. */
export async function startObjectStore(place: Place, program: string, folder: string): Promise<ObjectStore> {
  await mkdir(join(folder, bucket), { recursive: true });
  const url = `http://${place.address}:${port}`;
  const machine = new Machine(place, {
    command: [program, '--quiet', '--port', `${place.address}:${port}`, 'posix', folder],
    env: { ROOT_ACCESS_KEY: keys.AWS_ACCESS_KEY_ID, ROOT_SECRET_KEY: keys.AWS_SECRET_ACCESS_KEY },
    folder,
    // Any answer will do: it refuses whoever has no key.
    isUp: async () => (await fetch(url, { signal: AbortSignal.timeout(1_000) })).status > 0,
  });
  await machine.start();
  return {
    machine,
    env: { ...keys, AWS_ENDPOINT_URL: url, AUDIO_STORE: `s3://${bucket}/${prefix}` },
    objects: () => filesBelow(join(folder, bucket, prefix)),
  };
}

/** None where the folder is not there. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
