import { execFile } from 'node:child_process';
import { rm, writeFile, readFile } from 'node:fs/promises';
import { resolve, join } from 'node:path';
import { promisify } from 'node:util';
import { TranscriptionClient } from '../client/index.ts';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/**
 * The key of the last quickstart if the service still accepts it. Otherwise a new key of a new account with 10 h.
 * @throws with the output of the admin command when it fails
 */
export async function demoKey(url: string, dataDir: string): Promise<{ secret: string; file: string; isNew: boolean }> {
  const file = demoKeyFile(dataDir);
  const kept = await readDemoKey(dataDir);
  if (kept !== undefined && (await isValid(url, kept))) return { secret: kept, file, isNew: false };
  const account = ['--name', 'Quickstart demo', '--plan', 'pro', '--balance', '10h'];
  const { id } = await admin<{ id: string }>(['accounts', 'create', ...account]);
  const scopes = ['--scope', 'read', '--scope', 'write'];
  const { secret } = await admin<{ secret: string }>(['keys', 'issue', id, ...scopes, '--label', 'quickstart']);
  // Removed first, because an existing file would keep its mode.
  await rm(file, { force: true });
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
  return { secret, file, isNew: true };
}

/** A key whose allowance is used up is valid. */
async function isValid(url: string, apiKey: string): Promise<boolean> {
  const { response } = await new TranscriptionClient({ url, apiKey }).api.GET('/sessions', {
    params: { query: { limit: 1 } },
  });
  return ![401, 403].includes(response.status);
}

/** Types a command of support. @throws with its output when it fails */
export async function admin<Result>(args: string[], env = process.env): Promise<Result> {
  const command = ['scripts/admin/main.ts', ...args, '--json'];
  const { stdout } = await execute(process.execPath, command, { cwd: root, env }).catch((error: { stderr: string }) => {
    throw new Error(`npm run admin -- ${args.slice(0, 2).join(' ')} failed:\n${error.stderr.trim()}`);
  });
  return JSON.parse(stdout) as Result;
}

/** Where `scripts/quickstart` keeps its key; only the file's owner may read it. */
export const demoKeyFile = (dataDir: string): string => join(dataDir, 'demo-key');

/**
 * The key to use: the one that was given, that of `TRANSCRIPTION_API_KEY`, or the demo key of the quickstart. The demo
 * key is sent to this machine only.
 */
export async function findApiKey(
  given: string | undefined,
  url: string,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const chosen = given ?? env['TRANSCRIPTION_API_KEY'];
  if (chosen !== undefined && chosen !== '') return chosen;
  if (!isThisMachine(new URL(url).hostname)) return undefined;
  return readDemoKey(resolve(root, env['DATA_DIR'] || '.data'));
}

export async function readDemoKey(dataDir: string): Promise<string | undefined> {
  const text = await readFile(demoKeyFile(dataDir), 'utf8').catch(() => '');
  return text.trim() || undefined;
}

function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
