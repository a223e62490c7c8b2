import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from './judge.ts';

/** Installs packages into a virtual environment `venv` in the judge's folder, unless they are there already. */
export async function installFromPyPI({ folder, fetch }: Bench, requirements: readonly string[]): Promise<void> {
  const installed = join(folder, 'venv/.installed');
  const wanted = requirements.join('\n');
  if ((await readFile(installed, 'utf8').catch(() => '')) === wanted) return;
  await fetch(['python3', '-m', 'venv', '--clear', 'venv']);
  await fetch(['venv/bin/pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements]);
  await writeFile(installed, wanted);
}
