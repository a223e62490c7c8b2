/** The judges. Each is a part of `npm run check`, of the tests or of ./scripts/conformance. */
export const judgeTitles = {
  compiler: 'the compiler (npm run typecheck)',
  client: 'a generated client (./scripts/conformance)',
  generator: 'the generator (npm run check)',
  linter: 'the contract linter (npm run check)',
  release: 'the comparison with the last release (npm run check)',
  test: 'a test',
} as const;

export type JudgeName = keyof typeof judgeTitles;
