import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { driver, maven } from './generator.ts';
import type { Language } from './generator.ts';

export const java: Language = {
  ...{ name: 'openapi-generator-java', generator: 'java', label: 'Java' },
  properties:
    'library=native,openApiNullable=false,invokerPackage=generated,apiPackage=generated.api,modelPackage=generated.model',
  async build(bench) {
    const { folder, run, fetch } = bench;
    const libraries = join(folder, 'made/libraries');
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${libraries}`];
    await fetch([...maven(bench), '-f', 'made/pom.xml', ...copy]);
    await copyFile(driver('OpenApiGenerator.java'), join(folder, 'OpenApiGenerator.java'));
    const found = await readdir(join(folder, 'made/src/main/java'), { recursive: true });
    const sources = found.filter((file) => file.endsWith('.java')).map((file) => join('made/src/main/java', file));
    // These warnings are not ours: no annotation is processed, libraries have their own annotations, and the generator's
    // templates call what Jackson has deprecated.
    const strict = ['-Xlint:all,-processing,-classfile,-deprecation', '-Werror'];
    await run(['javac', ...strict, '-cp', `${libraries}/*`, '-d', 'made/built', ...sources, 'OpenApiGenerator.java']);
    return ['java', '-cp', `made/built:${libraries}/*`, 'OpenApiGenerator'];
  },
};
