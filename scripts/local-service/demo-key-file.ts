import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

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
