import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromPyPI } from './pypi.ts';
import { expect } from './judge.ts';
import type { Bench, Judge } from './judge.ts';

const requests = '2.34.2';

interface Sample {
  lang: string;
  source: string;
}

const python = ['venv/bin/python', '-W', 'error'];

/** How each language is run. */
const languages: Record<string, { file: string; command: string[] }> = {
  Shell: { file: 'sample.sh', command: ['sh', 'sample.sh'] },
  Python: { file: 'sample.py', command: [...python, 'sample.py'] },
  TypeScript: { file: 'sample.mts', command: ['node', 'sample.mts'] },
};

const longSample = fileURLToPath(new URL('../client/python/transcribe.py', import.meta.url));

/** Runs the samples of the contract, and the longer one in Python, as people who copy them do. */
export const codeSamples: Judge = {
  name: 'code-samples',
  tool: 'Code samples of the contract',
  isQuick: true,
  async judge(bench) {
    const { folder, contract, service } = bench;
    await installFromPyPI(bench, [`requests==${requests}`]);
    await copyFile(service.audio, join(folder, 'meeting.wav'));
    const { paths } = JSON.parse(await readFile(contract, 'utf8'));
    const samples: Sample[] = paths['/transcriptions'].post['x-codeSamples'];
    const texts: string[] = [await run([...python, longSample, 'meeting.wav'], bench)];
    for (const sample of samples) texts.push(await outputOf(sample, bench));
    const [text] = texts;
    expect(samples.length === Object.keys(languages).length, `${samples.length} samples`);
    expect(text !== '' && texts.every((other) => other === text), `they print ${JSON.stringify(texts)}`);
    const names = samples.map(({ lang }) => lang).join(', ');
    return { version: '', did: `${names} and scripts/client/python: each uploaded, waited and printed "${text}"` };
  },
};

async function outputOf({ lang, source }: Sample, bench: Bench): Promise<string> {
  const language = languages[lang];
  expect(language !== undefined, `nobody runs ${lang}`);
  await writeFile(join(bench.folder, language.file), source);
  return run(language.command, bench);
}

async function run(command: string[], bench: Bench): Promise<string> {
  const env = { API: bench.service.url, KEY: bench.service.key };
  return (await bench.run(command, { env, limitMs: 120_000 })).trim();
}
