import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypeScriptClient } from './client.ts';

const version = '7.5.0';

export const oazapfts: TypeScriptClient = {
  ...{ name: 'oazapfts', tool: 'oazapfts', isQuick: true, version },
  packages: { oazapfts: version, '@oazapfts/runtime': '1.2.0' },
  // It imports what it may not use.
  compilerOptions: { noUnusedLocals: false },
  async generate({ folder, run, contract }) {
    await mkdir(join(folder, 'generated'), { recursive: true });
    await run(['node_modules/.bin/oazapfts', contract, 'generated/api.ts']);
  },
};
