import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypeScriptClient } from './client.ts';

const version = '0.99.0';

/** Every answer goes through the schemas that are generated. */
export const heyApiZod: TypeScriptClient = {
  ...{ name: 'hey-api-zod', tool: 'hey-api (zod)', isQuick: false, version },
  packages: { '@hey-api/openapi-ts': version, zod: '4.6.7' },
  adapter: 'hey-api',
  async generate({ folder, run, contract }) {
    // Of answers alone: its schema of an upload takes the file for a string.
    const validator = { response: 'zod' };
    const plugins = ['@hey-api/client-fetch', '@hey-api/typescript', 'zod', { name: '@hey-api/sdk', validator }];
    const config = { input: contract, output: 'generated', logs: { file: false }, plugins };
    await writeFile(join(folder, 'openapi-ts.config.mjs'), `export default ${JSON.stringify(config)};`);
    await run(['node_modules/.bin/openapi-ts']);
  },
};
