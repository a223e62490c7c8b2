import type { TypeScriptClient } from './client.ts';

const version = '13.13.0';

export const swaggerTypescriptApi: TypeScriptClient = {
  ...{ name: 'swagger-typescript-api', tool: 'swagger-typescript-api', isQuick: false, version },
  packages: { 'swagger-typescript-api': version },
  generate: ({ run, contract }) =>
    run(['node_modules/.bin/swagger-typescript-api', 'generate', '-p', contract, '-o', 'generated', '-n', 'api.ts']),
};
