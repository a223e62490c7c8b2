import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypeScriptClient } from './client.ts';

// From 8.35 on, a dependency could not be installed from npm.
const version = '8.30.0';

export const orval: TypeScriptClient = {
  ...{ name: 'orval', tool: 'orval', isQuick: false, version },
  packages: { orval: version },
  async generate({ folder, run, contract, service }) {
    const output = { target: 'generated/api.ts', client: 'fetch', headers: true, baseUrl: service.url };
    const config = { api: { input: contract, output } };
    await writeFile(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(config)};`);
    await run(['node_modules/.bin/orval']);
  },
};
