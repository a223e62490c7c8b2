import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from './client.ts';
import type { Judge } from './judge.ts';

const version = '2.8.2';
const generator = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${version}`;
const goModule = `module driver

go 1.24

require (
	github.com/google/uuid v1.6.0
	github.com/oapi-codegen/runtime v1.8.0
)
`;

export const oapiCodegen: Judge = {
  name: 'oapi-codegen',
  tool: 'oapi-codegen (Go)',
  isQuick: true,
  async judge(bench) {
    const { folder, run, fetch, contract } = bench;
    await mkdir(join(folder, 'api'), { recursive: true });
    await writeFile(join(folder, 'go.mod'), goModule);
    await copyFile(new URL('drivers/oapi-codegen.go', import.meta.url), join(folder, 'main.go'));
    await fetch(['go', 'version']);
    await fetch(['go', 'run', generator, '-version']);
    await run(['go', 'run', generator, '-generate', 'types,client', '-package', 'api', '-o', 'api/api.go', contract]);
    await fetch(['go', 'get', './...']);
    await run(['go', 'vet', './...']);
    await run(['go', 'build', '-o', 'driver', '.']);
    return { version, did: await drive(bench, [join(folder, 'driver')]) };
  },
};
