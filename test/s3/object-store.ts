/** A real S3 server with its objects in a folder: versitygw, which is strict about secrets, checksums and conditions. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { atEnd } from '../support/at-end.ts';
import { freePort } from '../support/service/free-port.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import type { ChildProcess } from 'node:child_process';

const keys = { AWS_ACCESS_KEY_ID: 'access-of-tests', AWS_SECRET_ACCESS_KEY: 'secret-of-tests' };

export interface ObjectStore {
  /** What an operator sets. */
  env: Record<string, string>;
  /** Where the objects of a bucket are files. */
  folder: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops answering without closing a connection, until `SIGCONT`. */
  signal(name: NodeJS.Signals): void;
  /** Puts an object there without asking anybody. */
  place(key: string): Promise<void>;
  /** Makes an object or an upload so much older, by the clock of the store. */
  age(path: string, ms: number): Promise<void>;
}

/** A store with an empty bucket `audio`, gone after the last test of the file. */
export async function useObjectStore(): Promise<ObjectStore> {
  const program = process.env['VERSITYGW'];
  if (program === undefined) throw new Error('Type npm run test:s3, which says where the object store is.');
  // The SDK of this process looks for them there, as that of a service does.
  Object.assign(process.env, keys);
  const root = useFolder();
  const folder = join(root, 'audio');
  mkdirSync(folder);
  let child: ChildProcess | undefined;
  const port = await freePort();
  const stop = async () => {
    const ended = child;
    child = undefined;
    if (ended === undefined || ended.exitCode !== null) return;
    const exited = once(ended, 'exit');
    ended.kill('SIGKILL');
    await exited;
  };
  const start = async () => {
    const secrets = { ROOT_ACCESS_KEY: keys.AWS_ACCESS_KEY_ID, ROOT_SECRET_KEY: keys.AWS_SECRET_ACCESS_KEY };
    const args = ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', root];
    child = spawn(program, args, { env: { PATH: process.env['PATH'], ...secrets }, stdio: 'ignore' });
    await until(() => answers(port));
  };
  atEnd(stop);
  await start();
  return {
    folder,
    env: { ...keys, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`, AUDIO_STORE: 's3://audio/some/where' },
    start,
    stop,
    signal: (name: NodeJS.Signals) => void child?.kill(name),
    async place(key: string) {
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await writeFile(join(folder, key), 'audio');
    },
    async age(path: string, ms: number) {
      const then = new Date(Date.now() - ms);
      await utimes(path, then, then);
    },
  };
}

/** Takes a bucket away. */
export const loseBucket = ({ folder }: ObjectStore) => rm(folder, { recursive: true });

async function answers(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
