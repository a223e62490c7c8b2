import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from './copy.ts';
import type { Compiler } from './compiler.ts';
import type { JudgeName } from './judge-titles.ts';
import type { ChangedFiles, ProjectCopy } from './copy.ts';

export type Verdict = { kind: 'caught' | 'missed'; words: string } | { kind: 'not run'; words: string };

const limitMs = 10 * 60_000;
const redocly = ['node_modules/.bin/redocly', 'lint', '--extends=recommended-strict', 'openapi.yaml'];
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

const jest = 'node_modules/jest/bin/jest.js';
/** A mutated service may not start, and leave its connections open: Jest would wait for them for ever. */
const alsoWhenOpen = ['--forceExit'];

export class Judges {
  readonly #compiler: Compiler;
  readonly #copy: ProjectCopy;

  constructor(compiler: Compiler, copy: ProjectCopy) {
    this.#compiler = compiler;
    this.#copy = copy;
  }

  /** What a judge reports about the project with these files changed. @param tests the files that `test` runs */
  async judge(name: JudgeName, files: ChangedFiles, ...tests: string[]): Promise<Verdict> {
    switch (name) {
      case 'compiler':
        return byFaults(this.#compiler.serverFaults(files));
      case 'client':
        return byFaults(await this.#compiler.clientFaults(files['openapi.yaml'] ?? (await ownContract())));
      case 'generator':
        return this.#run(onlyContract(files), 'codegen/generate.ts', '--check');
      case 'linter':
        return this.#run(files, ...redocly);
      case 'release':
        return this.#run(files, 'scripts/check/breaking-changes.ts');
      case 'test':
        return this.#run(files, jest, '--runInBand', ...alsoWhenOpen, ...tests);
    }
  }

  #run(files: ChangedFiles, ...args: string[]): Promise<Verdict> {
    return this.#copy.with(files, async (cwd) => {
      const { promise, resolve } = Promise.withResolvers<Verdict>();
      const env = { ...process.env, ...quiet };
      execFile(process.execPath, args, { cwd, env, timeout: limitMs, maxBuffer: 64 * 1024 ** 2 }, (error, out, err) => {
        const notRun = /^not run: .*/m.exec(out)?.[0];
        if (notRun !== undefined) return resolve({ kind: 'not run', words: notRun });
        resolve({ kind: error === null ? 'missed' : 'caught', words: `${out}${err}` });
      });
      return promise;
    });
  }
}

const byFaults = (faults: string[]): Verdict => ({
  kind: faults.length > 0 ? 'caught' : 'missed',
  words: faults.join('\n'),
});

const ownContract = () => readFile(join(projectFolder, 'openapi.yaml'), 'utf8');

/** The changed contract, with the files that were generated from the old one. */
const onlyContract = ({ 'openapi.yaml': yaml }: ChangedFiles): ChangedFiles =>
  yaml === undefined ? {} : { 'openapi.yaml': yaml };
