/** openapi-backend as this service uses it. */
import addFormats from 'ajv-formats';
import { OpenAPIBackend } from 'openapi-backend';
import { contractFile } from './document.ts';
import { useContractRouter } from './router.ts';
import type { Context as Call, Options } from 'openapi-backend';
import type { Scope } from '../../../db/schema.ts';

const apiRoot = '/v1';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The contract, ready to route and check requests below `/v1`. Parameters are coerced and filled with their defaults. */
export async function loadBackend(
  use: Required<Pick<Options, 'handlers' | 'securityHandlers'>>,
): Promise<OpenAPIBackend> {
  const backend = new OpenAPIBackend({
    ...use,
    definition: contractFile,
    apiRoot,
    // Otherwise, a contract that can't be read would give a router without routes.
    strict: true,
    ignoreTrailingSlashes: false,
    coerceTypes: true,
    // The linter checks the contract, and validators of answers are of no use here (checker.ts has its own). To check the one and
    // to compile the others was a third of what the start of a process took.
    quick: true,
    ajvOpts: { useDefaults: true, allErrors: true, validateSchema: false, meta: false },
    customizeAjv: (ajv) => addFormats.default(ajv).addFormat('uuid', uuid),
  });
  await backend.init();
  // Otherwise, the first request of each operation would wait for this.
  backend.validator.preCompileRequestValidators();
  useContractRouter(backend, apiRoot);
  return backend;
}

/** Which scope an operation that asks for a key wants. */
export function requiredScope({ operation }: Call): Scope {
  return (operation as { 'x-required-scope'?: Scope })['x-required-scope']!;
}
