import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from './judge.ts';

/** Installs packages with exact versions into the judge's folder, unless they are there already. */
export async function installFromNpm({ folder, fetch }: Bench, packages: Record<string, string>): Promise<void> {
  const file = join(folder, 'package.json');
  const wanted = JSON.stringify({ private: true, type: 'module', dependencies: packages }, undefined, 2);
  const installed = join(folder, 'node_modules/.installed');
  if ((await readFile(installed, 'utf8').catch(() => '')) === wanted) return;
  await writeFile(file, wanted);
  await fetch(['npm', 'install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']);
  await writeFile(installed, wanted);
}
