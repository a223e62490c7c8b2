import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypeScriptClient } from './client.ts';

const version = '0.8.12';

/** It generates nothing: its types are read from the contract itself, as a constant. */
export const fets: TypeScriptClient = {
  ...{ name: 'fets', tool: 'fets', isQuick: false, version },
  packages: { fets: version },
  async generate({ folder, contract }) {
    const text = await readFile(contract, 'utf8');
    await writeFile(join(folder, 'contract.ts'), `export default ${text.trim()} as const;\n`);
  },
};
