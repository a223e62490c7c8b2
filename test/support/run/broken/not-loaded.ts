/** A run for `run.system.test.ts`: a file that breaks while it is loaded. */
throw new Error('this file does not load');
