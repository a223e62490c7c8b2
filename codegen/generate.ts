/**
 * Writes the two files that follow from openapi.yaml: `api.ts` (types) and `openapi.json` (the document that is served).
 * With `--check` it writes nothing and fails when either is stale.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';
import type { OpenAPI3, OperationObject } from 'openapi-typescript';

const root = new URL('../', import.meta.url);
const yaml = await readFile(new URL('openapi.yaml', root), 'utf8');
const notice = '// Generated from openapi.yaml by `npm run generate`. Edit that instead.\n\n';

const document = parse(yaml) as OpenAPI3;
const types = astToString(await openapiTypescript(withHeadersInPlace(document)));

const generated = {
  'codegen/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'codegen/api.ts': `${notice}${types}\n${publicOperations(document)}`,
};

/** openapi-typescript leaves out what `security` says. */
function publicOperations({ paths = {} }: OpenAPI3): string {
  const operations = Object.values(paths).flatMap((path) => Object.values(path as Record<string, OperationObject>));
  const open = operations.filter(({ operationId, security }) => operationId !== undefined && security?.length === 0);
  const ids = open.map(({ operationId }) => JSON.stringify(operationId));
  return `/** Operations that ask for no API key (\`security: []\`). */\nexport type PublicOperation = ${ids.join(' | ') || 'never'};\n`;
}

/** openapi-typescript takes every referenced header for a required one; of a header in place it reads `required`. */
function withHeadersInPlace(document: OpenAPI3): OpenAPI3 {
  const resolve = (_key: string, value: unknown) => {
    const reference = /^#\/components\/headers\/(.+)$/.exec((value as { $ref?: string } | null)?.$ref ?? '');
    return reference ? document.components?.headers?.[reference[1]!] : value;
  };
  return JSON.parse(JSON.stringify(document, resolve)) as OpenAPI3;
}

const stale: string[] = [];
for (const [path, text] of Object.entries(generated)) {
  const file = new URL(path, root);
  if (process.argv.includes('--check')) {
    if ((await readFile(file, 'utf8').catch(() => '')) !== text) stale.push(path);
  } else {
    await writeFile(file, text);
  }
}
if (stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run "npm run generate" and commit the result.`);
  process.exitCode = 1;
}
