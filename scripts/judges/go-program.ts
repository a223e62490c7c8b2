import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Bench } from './judge.ts';

/**
 * Compiles a program and what was generated beside it.
 * @param files of drivers/
 * @returns the program
 */
export async function buildGoProgram(bench: Bench, goModule: string, files: readonly string[]): Promise<string> {
  const { folder, run, fetch } = bench;
  await writeFile(join(folder, 'go.mod'), goModule);
  for (const file of files) {
    await copyFile(new URL(`drivers/${file}`, import.meta.url), join(folder, basename(file)));
  }
  await fetch(['go', 'get', './...']);
  await run(['go', 'vet', './...']);
  await run(['go', 'build', '-o', 'driver', '.']);
  return join(folder, 'driver');
}
