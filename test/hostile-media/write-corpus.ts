/** Writes the corpus, to try other programs on it: node test/hostile-media/write-corpus.ts FOLDER */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setUpBench } from './bench.ts';
import { makeCorpus } from './corpus.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Which folder? Type: node test/hostile-media/write-corpus.ts FOLDER');

const bench = await setUpBench();
try {
  await mkdir(folder, { recursive: true });
  for (const [index, { kind, name, made, outcome, bytes }] of (await makeCorpus(bench)).entries()) {
    // The names are hostile as well.
    const safe = `${String(index).padStart(3, '0')}-${name
      .toString('latin1')
      .replaceAll(/[^\w.-]/g, '_')
      .slice(-60)}`;
    await writeFile(join(folder, safe), bytes);
    process.stdout.write(`${JSON.stringify({ file: safe, kind, made, outcome })}\n`);
  }
} finally {
  await bench.close();
}
