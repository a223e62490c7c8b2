/**
 * `npm run check:drift`: shows that server and contract can't drift apart without being noticed. Each mutation breaks a
 * copy of the project in one way, and its judge must catch it. Before that, every judge must find nothing wrong in the
 * unbroken copy.
 */
import { Compiler } from './compiler.ts';
import { ProjectCopy, changedBy } from './copy.ts';
import { judgeTitles } from './judge-titles.ts';
import { Judges } from './judges.ts';
import { mutations } from './mutations.ts';
import setUp from '../../test/support/global-setup.ts';
import tearDown from '../../test/support/global-teardown.ts';
import type { Verdict } from './judges.ts';
import type { Mutation } from './mutations.ts';

const titleOf = ({ judge, test }: Pick<Mutation, 'judge' | 'test'>) => test ?? judgeTitles[judge];

/** A judge that always fails proves nothing. So each judge of the table judges once, all of its tests in one run. */
const testFiles = [...new Set(mutations.flatMap(({ test = [] }) => test))];
const otherJudges = new Set(mutations.map(({ judge }) => judge).filter((judge) => judge !== 'test'));

function report(caught: boolean, sentence: string, { kind, words }: Verdict): void {
  if (kind === 'not run') return console.log(`- ${sentence}: ${words}`);
  console.log(`${caught ? '✓' : '✗'} ${sentence}`);
  if (!caught) {
    process.exitCode = 1;
    console.log(words.trimEnd().replaceAll(/^/gm, '    '));
  }
}

// All tests clone the database of the unbroken project: no mutation changes its tables.
await setUp();
const copy = await ProjectCopy.make();
try {
  const judges = new Judges(await Compiler.make(), copy);
  console.log('Without a mutation, nothing is found by:');
  for (const judge of otherJudges) {
    const verdict = await judges.judge(judge, {});
    report(verdict.kind === 'missed', judgeTitles[judge], verdict);
  }
  const verdict = await judges.judge('test', {}, ...testFiles);
  report(verdict.kind === 'missed', testFiles.join(', '), verdict);
  console.log('\nEach mutation is caught:');
  for (const mutation of mutations) {
    const verdict = await judges.judge(
      mutation.judge,
      await changedBy(mutation),
      ...(mutation.test === undefined ? [] : [mutation.test]),
    );
    report(verdict.kind === 'caught', `${mutation.drift} → ${titleOf(mutation)}`, verdict);
  }
} finally {
  await copy.remove();
  await tearDown();
}
