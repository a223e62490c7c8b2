import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from '../client.ts';
import { installFromPyPI } from '../pypi.ts';
import type { Judge } from '../judge.ts';

const version = '0.23.1';

/** Validates each request and each answer of the main job by the contract. */
export const openapiCore: Judge = {
  name: 'openapi-core',
  tool: 'openapi-core',
  isQuick: false,
  async judge(bench) {
    await installFromPyPI(bench, [`openapi-core==${version}`, 'requests==2.34.2']);
    await copyFile(new URL('../drivers/openapi-core.py', import.meta.url), join(bench.folder, 'driver.py'));
    return { version, did: await drive(bench, ['venv/bin/python', 'driver.py', bench.contract]) };
  },
};
