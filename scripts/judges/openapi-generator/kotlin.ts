import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { driver, maven } from './generator.ts';
import type { Language } from './generator.ts';

/** Compiled by Maven: the generator writes a project for Gradle only, which is not on every machine. */
export const kotlin: Language = {
  ...{ name: 'openapi-generator-kotlin', generator: 'kotlin', label: 'Kotlin' },
  properties: 'library=jvm-okhttp4,serializationLibrary=jackson,packageName=generated',
  async build(bench) {
    const { folder, run, fetch } = bench;
    await copyFile(driver('openapi-generator-kotlin.pom.xml'), join(folder, 'made/pom.xml'));
    await copyFile(driver('OpenApiGenerator.kt'), join(folder, 'made/src/main/kotlin/OpenApiGenerator.kt'));
    const libraries = join(folder, 'made/libraries');
    const ofProject = [...maven(bench), '-f', 'made/pom.xml'];
    await fetch([...ofProject, 'dependency:go-offline']);
    await fetch([...ofProject, 'dependency:copy-dependencies', `-DoutputDirectory=${libraries}`]);
    await run([...ofProject, 'compile']);
    return ['java', '-cp', `made/target/classes:${libraries}/*`, 'OpenApiGeneratorKt'];
  },
};
