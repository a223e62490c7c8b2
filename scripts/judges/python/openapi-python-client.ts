import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from '../client.ts';
import { installFromPyPI } from '../pypi.ts';
import type { Judge } from '../judge.ts';

const version = '0.29.1';
const mypyVersion = '2.4.1';

/** The generator's own client.py passes the arguments of `__exit__` on without types, whatever the contract says. */
const mypyRules = '[mypy]\nstrict = true\n[mypy-generated.client]\nignore_errors = true\n';

export const openapiPythonClient: Judge = {
  name: 'openapi-python-client',
  tool: 'openapi-python-client',
  isQuick: true,
  async judge(bench) {
    const { folder, run, contract } = bench;
    await installFromPyPI(bench, [`openapi-python-client==${version}`, `mypy==${mypyVersion}`]);
    await copyFile(new URL('../drivers/openapi-python-client.py', import.meta.url), join(folder, 'driver.py'));
    // It formats what it wrote with the ruff that came with it.
    const env = { PATH: `${join(folder, 'venv/bin')}:${process.env.PATH}` };
    const how = [
      '--path',
      contract,
      '--output-path',
      'generated',
      '--overwrite',
      '--meta',
      'none',
      '--fail-on-warning',
    ];
    await run(['openapi-python-client', 'generate', ...how], { env });
    await writeFile(join(folder, 'mypy.ini'), mypyRules);
    await run(['venv/bin/mypy', 'driver.py', 'generated']);
    return { version, did: await drive(bench, ['venv/bin/python', '-W', 'error', 'driver.py']) };
  },
};
