import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { commonJs } from './client.ts';
import type { TypeScriptClient } from './client.ts';

const version = '1.18.3';

export const zodios: TypeScriptClient = {
  ...{ name: 'zodios', tool: 'openapi-zod-client (zodios)', isQuick: false, version },
  packages: { 'openapi-zod-client': version, '@zodios/core': '10.9.6', axios: '1.21.1', zod: '3.25.76' },
  // It writes types that it does not use.
  compilerOptions: { ...commonJs, noUnusedLocals: false },
  async generate({ folder, run, contract }) {
    await mkdir(join(folder, 'generated'), { recursive: true });
    const isJson = "['application/json', 'application/problem+json'].includes(mediaType)";
    const how = ['--with-alias', '--media-type-expr', isJson, '-o', 'generated/api.ts'];
    await run(['node_modules/.bin/openapi-zod-client', contract, ...how]);
  },
};
