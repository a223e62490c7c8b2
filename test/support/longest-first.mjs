/** The order of test files: those that take longest begin first, so that none of them is left over when all others have ended. */
import TestSequencer from '@jest/test-sequencer';

/** More than 20 s each on two quiet cores, the longest first. Jest knows durations of its own only after the first run. */
const longest = [
  'test/src/recognizers/pocketsphinx/pocketsphinx.test.ts',
  'test/hostile-media/corpus.test.ts',
  'test/scripts/admin/verify.test.ts',
  'test/support/run/interruption.test.ts',
  'test/service/demoted.test.ts',
  'test/src/recognizers/openai/openai.test.ts',
  'test/src/api/access/auth-failures.test.ts',
  'test/src/worker/speech.test.ts',
  'test/db/embedded/recovery.test.ts',
  'test/src/recognizers/sherpa-onnx/sherpa-onnx.test.ts',
  'test/hostile-media/mutations.test.ts',
  'test/src/worker/outage.test.ts',
];

const rankOf = ({ path }) => {
  const index = longest.findIndex((name) => path.endsWith(name));
  return index === -1 ? longest.length : index;
};

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
