import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { driver } from './generator.ts';
import type { Language } from './generator.ts';

export const go: Language = {
  ...{ name: 'openapi-generator-go', generator: 'go', label: 'Go' },
  properties: 'packageName=api,withGoMod=false',
  async build({ folder, run, fetch }) {
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
  },
};
