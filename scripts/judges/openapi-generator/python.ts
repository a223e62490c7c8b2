import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installFromPyPI } from '../pypi.ts';
import { driver } from './generator.ts';
import type { Language } from './generator.ts';

export const python: Language = {
  ...{ name: 'openapi-generator-python', generator: 'python', label: 'Python' },
  properties: 'packageName=generated',
  async build(bench) {
    const { folder, run } = bench;
    await installFromPyPI(bench, ['mypy==2.4.1', 'types-python-dateutil', '--requirement=made/requirements.txt']);
    await copyFile(driver('openapi-generator.py'), join(folder, 'made/driver.py'));
    await run([join(folder, 'venv/bin/mypy'), 'driver.py'], { cwd: join(folder, 'made') });
    return [join(folder, 'venv/bin/python'), join(folder, 'made/driver.py')];
  },
};
