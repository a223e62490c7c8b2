/**
 * Writes the files that follow from openapi.yaml: `api.ts` (types), `retries.ts` (when to repeat a request) and
 * `openapi.json` (the document that is served). With `--check` it writes nothing, and fails when one of them is stale.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { generatedFrom } from './generated.ts';

const root = new URL('../', import.meta.url);
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
