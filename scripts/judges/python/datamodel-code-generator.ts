import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from '../client.ts';
import { installFromPyPI } from '../pypi.ts';
import type { Judge } from '../judge.ts';

const version = '0.89.0';
const packages = [`datamodel-code-generator==${version}`, 'pydantic==2.14.3', 'httpx==0.28.1', 'mypy==2.4.1'];
const mypyRules = '[mypy]\nstrict = true\nplugins = pydantic.mypy\n';

/** Models alone; what is sent and what comes back goes through them. */
export const datamodelCodeGenerator: Judge = {
  name: 'datamodel-code-generator',
  tool: 'datamodel-code-generator (pydantic)',
  isQuick: false,
  async judge(bench) {
    const { folder, run, contract } = bench;
    await installFromPyPI(bench, packages);
    await rm(join(folder, 'models.py'), { force: true });
    const input = ['--input', contract, '--input-file-type', 'openapi', '--formatters', 'builtin'];
    const output = ['--output', 'models.py', '--output-model-type', 'pydantic_v2.BaseModel', '--use-annotated'];
    const style = ['--target-python-version', '3.11', '--disable-timestamp', '--extra-fields', 'allow'];
    await run(['venv/bin/datamodel-codegen', ...input, ...output, ...style]);
    await copyFile(new URL('../drivers/datamodel-code-generator.py', import.meta.url), join(folder, 'driver.py'));
    await writeFile(join(folder, 'mypy.ini'), mypyRules);
    await run(['venv/bin/mypy', 'driver.py', 'models.py']);
    return { version, did: await drive(bench, ['venv/bin/python', '-W', 'error', 'driver.py']) };
  },
};
