/** A real S3 server with its objects in a folder: versitygw, which is strict about secrets, checksums and conditions. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Machine } from './machine.ts';
import type { Place } from './place.ts';

export const keys = { AWS_ACCESS_KEY_ID: 'access-of-tests', AWS_SECRET_ACCESS_KEY: 'secret-of-tests' };
const [bucket, prefix] = ['audio', 'some/where'];

export interface ObjectStore {
  machine: Machine;
  /** What an operator sets. */
  env: Record<string, string>;
  /** Where the objects of the bucket are files. */
  folder: string;
  /** Paths of all objects. */
  objects(): Promise<string[]>;
}

/** Up, with an empty bucket. @param program of versitygw */
export async function startObjectStore(
  place: Place,
  program: string,
  folder: string,
  port = 9_000,
): Promise<ObjectStore> {
  const own = join(folder, bucket);
  await mkdir(own, { recursive: true });
  const url = `http://${place.address}:${port}`;
  const machine = new Machine(place, {
    command: [program, '--quiet', '--port', `${place.address}:${port}`, 'posix', folder],
    env: { ROOT_ACCESS_KEY: keys.AWS_ACCESS_KEY_ID, ROOT_SECRET_KEY: keys.AWS_SECRET_ACCESS_KEY },
    folder,
    // Any answer will do: it refuses whoever has no key.
    isUp: async () => (await fetch(url, { signal: AbortSignal.timeout(1_000) })).status > 0,
  });
  await machine.start();
  const env = { ...keys, AWS_ENDPOINT_URL: url, AUDIO_STORE: `s3://${bucket}/${prefix}` };
  return { machine, env, folder: own, objects: () => filesBelow(join(own, prefix)) };
}

/** None where the folder is not there. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
