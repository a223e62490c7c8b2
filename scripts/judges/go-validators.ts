import { drive } from './client.ts';
import { buildGoProgram } from './go-program.ts';
import type { Judge } from './judge.ts';

/** A Go library that holds requests and answers against the contract; its adapter is drivers/go-validation/NAME.go. */
interface GoValidator {
  name: string;
  version: string;
  goModule: string;
}

const validators: readonly GoValidator[] = [
  {
    ...{ name: 'kin-openapi', version: '0.153.0' },
    goModule: `module driver

go 1.25

require github.com/getkin/kin-openapi v0.153.0
`,
  },
  {
    ...{ name: 'libopenapi-validator', version: '0.16.2' },
    goModule: `module driver

go 1.26.0

require (
	github.com/pb33f/libopenapi v0.42.4
	github.com/pb33f/libopenapi-validator v0.16.2
)
`,
  },
];

export const goValidators: readonly Judge[] = validators.map(({ name, version, goModule }) => ({
  ...{ name, tool: `${name} (Go)`, isQuick: false },
  async judge(bench) {
    const files = ['main-job.go', `${name}.go`].map((file) => `go-validation/${file}`);
    const program = await buildGoProgram(bench, goModule, files);
    const did = await drive(bench, [program, bench.contract]);
    return { version, did: `${did}; validated each request and answer, the file as audio/x-wav` };
  },
}));
