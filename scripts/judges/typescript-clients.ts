import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from './client.ts';
import { installFromNpm } from './npm.ts';
import type { Bench, Judge } from './judge.ts';

const typescript = '5.9.3';
const nodeTypes = '26.6.6';

const compilerOptions = {
  ...{ target: 'es2023', lib: ['esnext', 'dom', 'dom.iterable'], module: 'nodenext', types: ['node'] },
  ...{ strict: true, noUnusedLocals: true, noImplicitReturns: true, noFallthroughCasesInSwitch: true },
  ...{ skipLibCheck: true, outDir: 'built', rootDir: '.' },
};

interface TypeScriptClient {
  name: string;
  tool: string;
  isQuick: boolean;
  packages: Record<string, string>;
  /** The package whose version the table shows. */
  generator: string;
  generate(bench: Bench): Promise<unknown>;
}

const clients: TypeScriptClient[] = [
  {
    ...{ name: 'openapi-fetch', tool: 'openapi-typescript + openapi-fetch', isQuick: true },
    packages: { 'openapi-fetch': '0.17.0', 'openapi-typescript': '7.13.0' },
    generator: 'openapi-typescript',
    generate: ({ run, contract }) => run(['node_modules/.bin/openapi-typescript', contract, '-o', 'api.ts']),
  },
  {
    ...{ name: 'hey-api', tool: 'hey-api', isQuick: true },
    packages: { '@hey-api/openapi-ts': '0.99.0' },
    generator: '@hey-api/openapi-ts',
    async generate({ run, contract }) {
      await run(['node_modules/.bin/openapi-ts', '-i', contract, '-o', 'generated', '--no-log-file']);
    },
  },
  {
    ...{ name: 'orval', tool: 'orval', isQuick: false },
    // From 8.35 on, a dependency could not be installed from npm.
    packages: { orval: '8.30.0' },
    generator: 'orval',
    async generate({ folder, run, contract, service }) {
      const output = { target: 'generated/api.ts', client: 'fetch', headers: true, baseUrl: service.url };
      const config = { api: { input: contract, output } };
      await writeFile(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(config)};`);
      await run(['node_modules/.bin/orval']);
    },
  },
];

/** Generates, compiles with every check that generated code can be held to, and drives. */
function judgeOf({ name, tool, isQuick, packages, generator, generate }: TypeScriptClient): Judge {
  return {
    ...{ name, tool, isQuick },
    async judge(bench) {
      const { folder, run } = bench;
      await installFromNpm(bench, { ...packages, typescript, '@types/node': nodeTypes });
      for (const stale of ['generated', 'built']) await rm(join(folder, stale), { recursive: true, force: true });
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['driver.ts'] }));
      await copyFile(new URL(`drivers/${name}.ts`, import.meta.url), join(folder, 'driver.ts'));
      await generate(bench);
      await run(['node_modules/.bin/tsc']);
      const did = await drive(bench, ['node', 'built/driver.js']);
      return { version: packages[generator]!, did };
    },
  };
}

export const typescriptClients = clients.map(judgeOf);
