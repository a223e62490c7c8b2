import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installFromPyPI } from './pypi.ts';
import { expect } from './judge.ts';
import type { Bench, Judge } from './judge.ts';

const requests = '2.34.2';

interface Sample {
  lang: string;
  source: string;
}

/** How each language is run. The file of the sample comes last. */
const languages: Record<string, { file: string; command: string[] }> = {
  Shell: { file: 'sample.sh', command: ['sh'] },
  Python: { file: 'sample.py', command: ['venv/bin/python', '-W', 'error'] },
  TypeScript: { file: 'sample.mts', command: ['node'] },
};

/** Runs the samples of the contract, as people who copy them do. */
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
    const texts: string[] = [];
    for (const sample of samples) texts.push(await outputOf(sample, bench));
    const [text] = texts;
    expect(texts.length === Object.keys(languages).length, `${texts.length} samples`);
    expect(text !== '' && texts.every((other) => other === text), `they print ${JSON.stringify(texts)}`);
    const names = samples.map(({ lang }) => lang).join(', ');
    return { version: '', did: `${names}: each uploaded, waited and printed "${text}"` };
  },
};

async function outputOf({ lang, source }: Sample, { folder, run, service }: Bench): Promise<string> {
  const language = languages[lang];
  expect(language !== undefined, `nobody runs ${lang}`);
  await writeFile(join(folder, language.file), source);
  const env = { API: service.url, KEY: service.key };
  return (await run([...language.command, language.file], { env, limitMs: 120_000 })).trim();
}
