/** The object store of a test file: versitygw, a real S3 server which is strict about secrets, checksums and conditions. */
import { mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Machine } from '../rig/machine.ts';
import { steadyPort } from '../rig/ports.ts';
import { atEnd } from '../support/at-end.ts';
import { useFolder } from '../support/use-folder.ts';

const keys = { AWS_ACCESS_KEY_ID: 'access-of-tests', AWS_SECRET_ACCESS_KEY: 'secret-of-tests' };
const bucket = 'audio';

export interface ObjectStore {
  machine: Machine;
  /** What an operator sets. */
  env: Record<string, string>;
  /** Where the objects of the bucket are files. */
  folder: string;
}

/** A store with an empty bucket `audio`, gone after the last test of the file. */
export async function useObjectStore(): Promise<ObjectStore> {
  const program = process.env['VERSITYGW'];
  if (program === undefined) throw new Error('Type npm run test:s3, which says where the object store is.');
  // The SDK of this process looks for them there, as that of a service does.
  Object.assign(process.env, keys);
  const root = useFolder();
  const folder = join(root, bucket);
  await mkdir(folder);
  const address = `127.0.0.1:${await steadyPort()}`;
  const url = `http://${address}`;
  const machine = new Machine('store', {
    command: [program, '--quiet', '--port', address, 'posix', root],
    env: { ROOT_ACCESS_KEY: keys.AWS_ACCESS_KEY_ID, ROOT_SECRET_KEY: keys.AWS_SECRET_ACCESS_KEY },
    folder: root,
    // Any answer will do: it refuses whoever has no key.
    isUp: async () => (await fetch(url, { signal: AbortSignal.timeout(1_000) })).status > 0,
  });
  await machine.start();
  atEnd(() => machine.kill());
  const env = { ...keys, AWS_ENDPOINT_URL: url, AUDIO_STORE: `s3://${bucket}/some/where` };
  return { machine, env, folder };
}

/** Makes an object or an upload so much older, by the clock of the store. */
export async function age(path: string, ms: number): Promise<void> {
  const then = new Date(Date.now() - ms);
  await utimes(path, then, then);
}
