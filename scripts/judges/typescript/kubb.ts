import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypeScriptClient } from './client.ts';

// The last version of kubb that has all of these plugins.
const version = '4.39.3';

const configuration = (contract: string) => `
import { defineConfig } from '@kubb/core';
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';

export default defineConfig({
  root: '.',
  input: { path: ${JSON.stringify(contract)} },
  output: { path: './generated', clean: true, extension: { '.ts': '.js' } },
  plugins: [
    pluginOas({ generators: [], validate: false }),
    pluginTs(),
    pluginClient({ client: 'fetch', bundle: true, dataReturnType: 'full' }),
  ],
});
`;

export const kubb: TypeScriptClient = {
  ...{ name: 'kubb', tool: 'kubb', isQuick: false, version },
  packages: {
    ...{ '@kubb/cli': version, '@kubb/core': version, '@kubb/plugin-client': version },
    ...{ '@kubb/plugin-oas': version, '@kubb/plugin-ts': version },
  },
  async generate({ folder, run, contract }) {
    await writeFile(join(folder, 'kubb.config.js'), configuration(contract));
    await run(['node_modules/.bin/kubb', 'generate', '--config', 'kubb.config.js']);
  },
};
