import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { drive } from './client.ts';
import { buildGoProgram } from './go-program.ts';
import type { Bench, Judge } from './judge.ts';

/** A generator of Go clients, as data; its driver is drivers/NAME.go. */
interface GoClient {
  name: string;
  version: string;
  /** The generator's package. */
  generator: string;
  goModule: string;
  /** Of the generator: what writes the package `api`. */
  options(contract: string): string[];
}

const clients: readonly GoClient[] = [
  {
    ...{ name: 'oapi-codegen', version: '2.8.2' },
    generator: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen',
    goModule: `module driver

go 1.24

require (
	github.com/google/uuid v1.6.0
	github.com/oapi-codegen/runtime v1.8.0
)
`,
    options: (contract) => ['-generate', 'types,client', '-package', 'api', '-o', 'api/api.go', contract],
  },
  {
    ...{ name: 'ogen', version: '1.24.0' },
    generator: 'github.com/ogen-go/ogen/cmd/ogen',
    goModule: `module driver

go 1.25

require (
	github.com/google/uuid v1.6.0
	github.com/ogen-go/ogen v1.24.0
)
`,
    options: (contract) => ['-target', 'api', '-package', 'api', '--clean', contract],
  },
];

export const goClients: readonly Judge[] = clients.map((client) => {
  const { name, version, goModule } = client;
  return {
    // Go compiles for longer than the quick ones take together.
    ...{ name, tool: `${name} (Go)`, isQuick: false },
    async judge(bench) {
      await generate(client, bench);
      const program = await buildGoProgram(bench, goModule, [`${name}.go`]);
      return { version, did: await drive(bench, [program]) };
    },
  };
});

async function generate({ generator, version, options }: GoClient, { folder, run, fetch, contract }: Bench) {
  await mkdir(join(folder, 'api'), { recursive: true });
  const command = ['go', 'run', `${generator}@v${version}`];
  await fetch([...command, '-version']);
  await run([...command, ...options(contract)]);
}
