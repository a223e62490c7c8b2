/** openapi-generator, whose program comes from Maven Central. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from '../client.ts';
import type { Bench, Judge } from '../judge.ts';

export const version = '7.25.0';
const artifact = `org.openapitools:openapi-generator-cli:${version}`;

/** A language that it generates, as data. */
export interface Language {
  name: string;
  /** The name that openapi-generator has for it. */
  generator: string;
  label: string;
  properties: string;
  /** Compiles what was generated into the folder `made`. @returns the command that starts the driver */
  build(bench: Bench): Promise<string[]>;
}

/** @param properties of the generator. @param into a folder in the judge's own */
export async function generateBy(bench: Bench, generator: string, properties: string, into = 'made'): Promise<void> {
  const { folder, cache, run, fetch, contract } = bench;
  const jar = join(cache, 'downloads', `openapi-generator-cli-${version}.jar`);
  await fetch(['java', '-version']);
  const copy = ['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${join(cache, 'downloads')}`];
  await fetch([...maven(bench), ...copy]);
  await rm(join(folder, into), { recursive: true, force: true });
  const what = ['-g', generator, '-i', contract, '-o', into, `--additional-properties=${properties}`];
  await run(['java', '-jar', jar, 'generate', ...what]);
}

/** The beginning of a command of Maven. What is there already is not fetched again. */
export const maven = ({ cache }: Bench) => ['mvn', '-B', '-q', `-Dmaven.repo.local=${join(cache, 'downloads/maven')}`];

export const driver = (file: string) => new URL(`../drivers/${file}`, import.meta.url);

export function judgeOfLanguage({ name, generator, label, properties, build }: Language): Judge {
  return {
    ...{ name, tool: `openapi-generator (${label})`, isQuick: false },
    async judge(bench) {
      await generateBy(bench, generator, properties);
      return { version, did: await drive(bench, await build(bench)) };
    },
  };
}
