import { commonJs } from './client.ts';
import type { TypeScriptClient } from './client.ts';

const version = '0.31.0';

export const openapiTypescriptCodegen: TypeScriptClient = {
  ...{ name: 'openapi-typescript-codegen', tool: 'openapi-typescript-codegen', isQuick: false, version },
  packages: { 'openapi-typescript-codegen': version },
  compilerOptions: commonJs,
  generate: ({ run, contract }) =>
    run([
      'node_modules/.bin/openapi',
      '--input',
      contract,
      '--output',
      'generated',
      '--name',
      'Api',
      '--useUnionTypes',
    ]),
};
