import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { generatedFrom } from '../../codegen/generated.ts';
import type { Contract, Mutation } from './mutations.ts';

export const projectFolder = resolve(import.meta.dirname, '../..');
const notCopied = ['node_modules', '.git', '.data'];

/** Changed files: their paths from the project's folder, and the text that a mutation gives them. */
export type ChangedFiles = Record<string, string>;

/**
 * The files that a mutation changes. When it changes the contract, the generated files change, too.
 * @throws when the text that it replaces is no longer there; then the mutation must be adapted to the code
 */
export async function changedBy(mutation: Mutation): Promise<ChangedFiles> {
  if ('file' in mutation) {
    const text = await readFile(join(projectFolder, mutation.file), 'utf8');
    if (!text.includes(mutation.from)) throw new Error(`${mutation.file} no longer holds: ${mutation.from}`);
    return { [mutation.file]: text.replace(mutation.from, () => mutation.to) };
  }
  const contract = parse(await readFile(join(projectFolder, 'openapi.yaml'), 'utf8')) as Contract;
  mutation.contract(contract);
  const yaml = stringify(contract);
  return { 'openapi.yaml': yaml, ...(await generatedFrom(yaml)) };
}

/** A copy of the project that may be broken, with the packages of the original. */
export class ProjectCopy {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<ProjectCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'drift-'));
    const filter = (path: string) => !notCopied.includes(basename(path));
    await cp(projectFolder, folder, { recursive: true, filter });
    await symlink(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
    return new ProjectCopy(folder);
  }

  /** Runs `judge` on the copy with these files changed, and puts them back. */
  async with<Result>(files: ChangedFiles, judge: (folder: string) => Promise<Result>): Promise<Result> {
    for (const [path, text] of Object.entries(files)) await writeFile(join(this.folder, path), text);
    try {
      return await judge(this.folder);
    } finally {
      for (const path of Object.keys(files)) await cp(join(projectFolder, path), join(this.folder, path));
    }
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
