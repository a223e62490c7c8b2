import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypeScriptClient } from './client.ts';

const version = '2.2.7';

export const typedOpenapi: TypeScriptClient = {
  ...{ name: 'typed-openapi', tool: 'typed-openapi', isQuick: false, version },
  packages: { 'typed-openapi': version },
  async generate({ folder, run, contract }) {
    await mkdir(join(folder, 'generated'), { recursive: true });
    await run(['node_modules/.bin/typed-openapi', contract, '-o', 'generated/api.ts']);
  },
};
