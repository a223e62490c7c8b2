import type { TypeScriptClient } from './client.ts';

const version = '0.99.0';

export const heyApi: TypeScriptClient = {
  ...{ name: 'hey-api', tool: 'hey-api', isQuick: true, version },
  packages: { '@hey-api/openapi-ts': version },
  generate: ({ run, contract }) =>
    run(['node_modules/.bin/openapi-ts', '-i', contract, '-o', 'generated', '--no-log-file']),
};
