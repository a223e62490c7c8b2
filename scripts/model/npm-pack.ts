/** npm fetches archives of packages, by the mirror or proxy that it is told of. Nothing of them is run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Refusal } from '../terminal/refusal.ts';
import type { Installation } from './download.ts';

const shownLines = 6;

type Fetching = Pick<Installation, 'env' | 'signal'>;

/**
 * @param name `name@version`
 * @param folder an empty one
 * @returns the path of the archive
 * @throws {Refusal} with npm's own words
 * @throws the abort reason of `signal`
 */
export async function packByNpm(name: string, folder: string, { env, signal }: Fetching): Promise<string> {
  const npm = spawn('npm', ['pack', name, '--pack-destination', folder, '--loglevel=error'], {
    env: { ...env, PATH: pathOfNpm(env) },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  const ended = once(npm, 'close') as Promise<[code: number | null]>;
  const [said, code] = await Promise.all([text(npm.stderr), ended.then(([exitCode]) => exitCode)]).catch(
    (error: Error): [string, null] => [error.message, null],
  );
  signal.throwIfAborted();
  if (code !== 0) throw new Refusal(`npm can not fetch ${name}:\n${itsOwn(said)}\n${whatToDo}`);
  const [archive] = await readdir(folder);
  return join(folder, archive!);
}

/** Without this project's own Node.js, which npm puts first: npm runs on the one that it came with. */
function pathOfNpm(env: NodeJS.ProcessEnv): string {
  const folders = (env['PATH'] ?? '').split(delimiter);
  return folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin'))).join(delimiter);
}

function itsOwn(words: string): string {
  const lines = words.split('\n').filter((line) => line.trim() !== '' && !line.includes('A complete log'));
  return lines
    .slice(0, shownLines)
    .map((line) => `  ${line}`)
    .join('\n');
}

const whatToDo = `
Behind a proxy: npm config set https-proxy http://PROXY:PORT, or set HTTPS_PROXY. For a mirror: npm config set registry URL.
Without internet: copy the folder .models of a checkout that has it, or make an archive of everything there: npm run bundle`;
