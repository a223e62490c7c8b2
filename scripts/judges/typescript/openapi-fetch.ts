import type { TypeScriptClient } from './client.ts';

const version = '7.13.0';

export const openapiFetch: TypeScriptClient = {
  ...{ name: 'openapi-fetch', tool: 'openapi-typescript + openapi-fetch', isQuick: true, version },
  packages: { 'openapi-fetch': '0.17.0', 'openapi-typescript': version },
  generate: ({ run, contract }) => run(['node_modules/.bin/openapi-typescript', contract, '-o', 'api.ts']),
};
