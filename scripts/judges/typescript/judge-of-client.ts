import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from '../client.ts';
import { installFromNpm } from '../npm.ts';
import type { Judge } from '../judge.ts';
import type { TypeScriptClient } from './client.ts';

const typescript = '5.9.3';
const nodeTypes = '26.6.6';
const drivers = new URL('../drivers/typescript/', import.meta.url);

const strictOptions = {
  ...{ target: 'es2023', lib: ['esnext', 'dom', 'dom.iterable'], module: 'nodenext', types: ['node'] },
  ...{ strict: true, noUnusedLocals: true, noImplicitReturns: true, noFallthroughCasesInSwitch: true },
  ...{ skipLibCheck: true, outDir: 'built', rootDir: '.' },
};

/** Generates, compiles with every check that generated code can be held to, and drives. */
export function judgeOfClient(client: TypeScriptClient): Judge {
  const { name, tool, isQuick, version, packages, adapter = name, generate } = client;
  return {
    ...{ name, tool, isQuick },
    async judge(bench) {
      const { folder, run } = bench;
      await installFromNpm(bench, { ...packages, typescript, '@types/node': nodeTypes });
      for (const stale of ['generated', 'built']) await rm(join(folder, stale), { recursive: true, force: true });
      for (const file of ['main-job.ts', 'client.ts']) await copyFile(new URL(file, drivers), join(folder, file));
      await copyFile(new URL(`${adapter}.ts`, drivers), join(folder, 'adapter.ts'));
      const compilerOptions = { ...strictOptions, ...client.compilerOptions };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['main-job.ts'] }));
      await generate(bench);
      await run(['node_modules/.bin/tsc']);
      const type = compilerOptions.module === 'commonjs' ? 'commonjs' : 'module';
      await mkdir(join(folder, 'built'), { recursive: true });
      await writeFile(join(folder, 'built/package.json'), JSON.stringify({ type }));
      const mainJob = ['node', 'built/main-job.js'];
      return { version, did: await drive(bench, (await client.command?.(bench, mainJob)) ?? mainJob) };
    },
  };
}
