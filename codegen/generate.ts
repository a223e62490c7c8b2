/**
 * Writes the files that follow from openapi.yaml: `api.ts` (types), `retries.ts` (when to repeat a request) and
 * `openapi.json` (the document that is served). With `--check` it writes nothing, and fails when one of them is stale.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';
import type { OpenAPI3, OperationObject } from 'openapi-typescript';

const root = new URL('../', import.meta.url);
const notice = '// Generated from openapi.yaml by `npm run generate`. Edit that instead.\n\n';
const generated = await generatedFrom(await readFile(new URL('openapi.yaml', root), 'utf8'));

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

/** The path of each file and its text. */
async function generatedFrom(yaml: string): Promise<Record<string, string>> {
  const document = parse(yaml) as OpenAPI3;
  const types = astToString(await openapiTypescript(withHeadersInPlace(document)));
  return {
    'codegen/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'codegen/api.ts': `${notice}${types}\n${publicOperations(document)}`,
    'codegen/retries.ts': `${notice}${retries(document)}`,
  };
}

/** What to do after each `code`: `x-retry`, which openapi-typescript leaves out. */
function retries({ components }: OpenAPI3): string {
  const tableOf = (schema: string) => {
    const { properties } = components!.schemas![schema] as unknown as Record<string, Record<string, object>>;
    const { 'x-retry': table } = properties!['code'] as { 'x-retry': Record<string, string> };
    const rows = Object.entries(table).map(([code, action]) => `  ${code}: '${action}',\n`);
    return `{\n${rows.join('')}} as const`;
  };
  return [
    `/** When to repeat a request that got a problem, by the problem's \`code\`. */`,
    `export const retryOfProblem = ${tableOf('Problem')};\n`,
    `/** What to do about a session that failed, by the \`code\` of its error. */`,
    `export const retryOfFailure = ${tableOf('SessionError')};\n`,
    `export type ProblemCode = keyof typeof retryOfProblem;`,
    `export type Retry = (typeof retryOfProblem)[ProblemCode];\n`,
  ].join('\n');
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
