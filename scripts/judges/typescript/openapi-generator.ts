import { generateBy, version } from '../openapi-generator/generator.ts';
import type { TypeScriptClient } from './client.ts';

// Its imports come from templates, used or not.
const compilerOptions = { noUnusedLocals: false };

export const typescriptFetch: TypeScriptClient = {
  ...{ name: 'typescript-fetch', tool: 'openapi-generator (typescript-fetch)', isQuick: false, version },
  ...{ packages: {}, compilerOptions },
  generate: (bench) => generateBy(bench, 'typescript-fetch', 'importFileExtension=.js', 'generated'),
};

export const typescriptAxios: TypeScriptClient = {
  ...{ name: 'typescript-axios', tool: 'openapi-generator (typescript-axios)', isQuick: false, version },
  ...{ packages: { axios: '1.21.1' }, compilerOptions },
  generate: (bench) => generateBy(bench, 'typescript-axios', 'importFileExtension=.js', 'generated'),
};
