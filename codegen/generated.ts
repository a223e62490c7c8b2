import openapiTypescript, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';
import type { OpenAPI3, OperationObject } from 'openapi-typescript';

const notice = '// Generated from openapi.yaml by `npm run generate`. Edit that instead.\n\n';

/** The files that follow from the contract: the path of each and its text. */
export async function generatedFrom(yaml: string): Promise<Record<'codegen/openapi.json' | 'codegen/api.ts', string>> {
  const document = parse(yaml) as OpenAPI3;
  const types = astToString(await openapiTypescript(withHeadersInPlace(document)));
  return {
    'codegen/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'codegen/api.ts': `${notice}${types}\n${publicOperations(document)}`,
  };
}

/** The operations that need no key: openapi-typescript leaves `security` out. */
function publicOperations({ paths = {} }: OpenAPI3): string {
  const operations = Object.values(paths).flatMap((path) => Object.values(path as Record<string, OperationObject>));
  const open = operations.filter(({ operationId, security }) => operationId !== undefined && security?.length === 0);
  const ids = open.map(({ operationId }) => JSON.stringify(operationId));
  return `/** Operations that ask for no API key (\`security: []\`). */\nexport type PublicOperation = ${ids.join(' | ') || 'never'};\n`;
}

/**
 * openapi-typescript takes every header that is a reference for required. Of other headers it reads `required`, so
 * references are replaced.
 */
function withHeadersInPlace(document: OpenAPI3): OpenAPI3 {
  const resolve = (_key: string, value: unknown) => {
    const reference = /^#\/components\/headers\/(.+)$/.exec((value as { $ref?: string } | null)?.$ref ?? '');
    return reference ? document.components?.headers?.[reference[1]!] : value;
  };
  return JSON.parse(JSON.stringify(document, resolve)) as OpenAPI3;
}
