import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commonJs } from './client.ts';
import type { TypeScriptClient } from './client.ts';

const version = '2.2.0';

export const rtkQuery: TypeScriptClient = {
  ...{ name: 'rtk-query', tool: 'RTK Query codegen', isQuick: false, version },
  packages: { '@rtk-query/codegen-openapi': version, '@reduxjs/toolkit': '2.14.0' },
  compilerOptions: commonJs,
  async generate({ folder, run, contract }) {
    const config = {
      ...{ schemaFile: contract, apiFile: './emptyApi.ts', apiImport: 'emptyApi' },
      ...{ outputFile: './generated/api.ts', exportName: 'api', hooks: false },
    };
    await copyFile(
      new URL('../drivers/typescript/rtk-query-empty-api.ts', import.meta.url),
      join(folder, 'emptyApi.ts'),
    );
    await mkdir(join(folder, 'generated'), { recursive: true });
    await writeFile(join(folder, 'rtk.config.json'), JSON.stringify(config));
    await run(['node_modules/.bin/rtk-query-codegen-openapi', 'rtk.config.json']);
  },
};
