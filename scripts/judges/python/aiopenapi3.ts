import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from '../client.ts';
import { installFromPyPI } from '../pypi.ts';
import type { Judge } from '../judge.ts';

const version = '0.11.0';

/** Makes its client of the contract at run time. */
export const aiopenapi3: Judge = {
  name: 'aiopenapi3',
  tool: 'aiopenapi3',
  isQuick: false,
  async judge(bench) {
    await installFromPyPI(bench, [`aiopenapi3==${version}`]);
    await copyFile(new URL('../drivers/aiopenapi3.py', import.meta.url), join(bench.folder, 'driver.py'));
    return { version, did: await drive(bench, ['venv/bin/python', '-W', 'error', 'driver.py', bench.contract]) };
  },
};
