import { codeSamples } from './code-samples.ts';
import { goClients } from './go-clients.ts';
import { goValidators } from './go-validators.ts';
import { redocly, spectral } from './linters.ts';
import { openapiGenerator } from './openapi-generator/languages.ts';
import { aiopenapi3 } from './python/aiopenapi3.ts';
import { datamodelCodeGenerator } from './python/datamodel-code-generator.ts';
import { openapiCore } from './python/openapi-core.ts';
import { openapiPythonClient } from './python/openapi-python-client.ts';
import { schemathesis } from './schemathesis.ts';
import { schemathesisDefaults } from './schemathesis-defaults.ts';
import { typescriptClients } from './typescript/clients.ts';
import { arazzo } from './workflow.ts';
import type { Judge } from './judge.ts';

/**
 * Two lanes at once, so that downloads and compilers don't wait for Schemathesis. Judges of one lane run one after the
 * other, because Maven and npm share folders.
 */
export const lanes: readonly (readonly Judge[])[] = [
  [
    redocly,
    spectral,
    arazzo,
    codeSamples,
    ...typescriptClients,
    ...goClients,
    ...goValidators,
    openapiPythonClient,
    ...[datamodelCodeGenerator, openapiCore, aiopenapi3],
    ...openapiGenerator,
  ],
  [schemathesis, schemathesisDefaults],
];
