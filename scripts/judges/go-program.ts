import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Bench } from './judge.ts';

/** On busy cores the first build of libopenapi-validator takes more than ten minutes. */
const limitMs = 30 * 60_000;

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
  await run(['go', 'vet', './...'], { limitMs });
  await run(['go', 'build', '-o', 'driver', '.'], { limitMs });
  return join(folder, 'driver');
}
