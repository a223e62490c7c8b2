/**
 * Writes the two files that follow from openapi.yaml: `api.ts` (types) and `openapi.json` (the document that is served).
 * With `--check` it writes nothing and fails when either is stale.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';
import type { OpenAPI3 } from 'openapi-typescript';

const root = new URL('../', import.meta.url);
const yaml = await readFile(new URL('openapi.yaml', root), 'utf8');
const notice = '// Generated from openapi.yaml by `npm run generate`. Edit that instead.\n\n';

const generated = {
  'codegen/openapi.json': `${JSON.stringify(parse(yaml), null, 2)}\n`,
  'codegen/api.ts': notice + astToString(await openapiTypescript(withHeadersInPlace(parse(yaml)))),
};

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
