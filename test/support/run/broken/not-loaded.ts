/** A run for `native-runner.system.test.ts`: a file that breaks while it is loaded, after a test that would pass. */
test('never counts for the whole file', () => {});

throw new Error('this file does not load');
