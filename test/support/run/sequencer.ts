/** The order of test files: those of the whole system first, which take longest. In a fresh clone jest knows no times. */
import { createRequire } from 'node:module';

/** Its types are those of CommonJS, and `import` gets another module. */
const { default: JestSequencer } = createRequire(import.meta.url)(
  '@jest/test-sequencer',
) as typeof import('@jest/test-sequencer');

type Tests = Parameters<InstanceType<typeof JestSequencer>['sort']>[0];

const isOfSystem = ({ path }: Tests[number]) => path.endsWith('.system.test.ts');

/** Within both kinds, as jest has them: what took longest in the run before, or the largest. */
export default class Sequencer extends JestSequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const sorted = await super.sort(tests);
    return [...sorted.filter(isOfSystem), ...sorted.filter((test) => !isOfSystem(test))];
  }
}
