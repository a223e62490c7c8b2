/** Clients by openapi-generator, whose program comes from Maven Central. */
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from './client.ts';
import { NotRun } from './judge.ts';
import { installFromPyPI } from './pypi.ts';
import type { Bench, Judge } from './judge.ts';

const version = '7.25.0';
const artifact = `org.openapitools:openapi-generator-cli:${version}`;

interface Language {
  name: string;
  /** The name that openapi-generator has for it. */
  generator: string;
  label: string;
  properties: string;
  build(bench: Bench): Promise<string[]>;
}

const languages: Language[] = [
  {
    ...{ name: 'openapi-generator-java', generator: 'java', label: 'Java' },
    properties:
      'library=native,openApiNullable=false,invokerPackage=generated,apiPackage=generated.api,modelPackage=generated.model',
    build: buildJava,
  },
  {
    ...{ name: 'openapi-generator-python', generator: 'python', label: 'Python' },
    properties: 'packageName=generated',
    build: buildPython,
  },
  {
    ...{ name: 'openapi-generator-go', generator: 'go', label: 'Go' },
    properties: 'packageName=api,withGoMod=false',
    build: buildGo,
  },
];

async function generate(bench: Bench, { generator, properties }: Language): Promise<void> {
  const { folder, cache, run, contract } = bench;
  const jar = join(cache, 'downloads', `openapi-generator-cli-${version}.jar`);
  await maven(bench, 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${join(cache, 'downloads')}`);
  await rm(join(folder, 'made'), { recursive: true, force: true });
  const what = ['-g', generator, '-i', contract, '-o', 'made', `--additional-properties=${properties}`];
  await run(['java', '-jar', jar, 'generate', ...what]);
}

/** Everything that needs Maven Central. What is there already is not downloaded again. */
function maven({ cache, fetch }: Bench, ...goal: string[]): Promise<string> {
  return fetch(['mvn', '-B', '-q', `-Dmaven.repo.local=${join(cache, 'downloads/maven')}`, ...goal]);
}

async function buildJava(bench: Bench): Promise<string[]> {
  const { folder, run } = bench;
  const libraries = join(folder, 'made/libraries');
  await maven(bench, '-f', 'made/pom.xml', 'dependency:copy-dependencies', `-DoutputDirectory=${libraries}`);
  await copyFile(driver('OpenApiGenerator.java'), join(folder, 'OpenApiGenerator.java'));
  const found = await readdir(join(folder, 'made/src/main/java'), { recursive: true });
  const sources = found.filter((file) => file.endsWith('.java')).map((file) => join('made/src/main/java', file));
  // These warnings are not ours: no annotation is processed, libraries have their own annotations, and the generator's
  // templates call what Jackson has deprecated.
  const strict = ['-Xlint:all,-processing,-classfile,-deprecation', '-Werror'];
  await run(['javac', ...strict, '-cp', `${libraries}/*`, '-d', 'made/built', ...sources, 'OpenApiGenerator.java']);
  return ['java', '-cp', `made/built:${libraries}/*`, 'OpenApiGenerator'];
}

async function buildPython(bench: Bench): Promise<string[]> {
  const { folder, run } = bench;
  await installFromPyPI(bench, ['mypy==2.4.1', 'types-python-dateutil', '--requirement=made/requirements.txt']);
  await copyFile(driver('openapi-generator.py'), join(folder, 'made/driver.py'));
  await run([join(folder, 'venv/bin/mypy'), 'driver.py'], { cwd: join(folder, 'made') });
  return [join(folder, 'venv/bin/python'), join(folder, 'made/driver.py')];
}

async function buildGo({ folder, run, fetch }: Bench): Promise<string[]> {
  const cwd = join(folder, 'go');
  await rm(cwd, { recursive: true, force: true });
  // Only the package, as a customer takes it. The generator's tests need a library of their own.
  await mkdir(join(cwd, 'api'), { recursive: true });
  for (const file of await readdir(join(folder, 'made'))) {
    if (file.endsWith('.go')) await copyFile(join(folder, 'made', file), join(cwd, 'api', file));
  }
  await writeFile(join(cwd, 'go.mod'), 'module driver\n\ngo 1.24\n');
  await copyFile(driver('openapi-generator.go'), join(cwd, 'main.go'));
  await fetch(['go', 'get', './...'], { cwd });
  await run(['go', 'vet', './...'], { cwd });
  await run(['go', 'build', '-o', 'driver', '.'], { cwd });
  return [join(cwd, 'driver')];
}

const driver = (file: string) => new URL(`drivers/${file}`, import.meta.url);

function judgeOf(language: Language): Judge {
  return {
    ...{ name: language.name, tool: `openapi-generator (${language.label})`, isQuick: false },
    async judge(bench) {
      await bench.fetch(['java', '-version']);
      await generate(bench, language);
      return { version, did: await drive(bench, await language.build(bench)) };
    },
  };
}

const csharp: Judge = {
  ...{ name: 'openapi-generator-csharp', tool: 'openapi-generator (C#)', isQuick: false },
  async judge({ fetch }) {
    await fetch(['dotnet', '--version']);
    throw new NotRun('there is no driver for it yet');
  },
};

export const openapiGenerator = [...languages.map(judgeOf), csharp];
