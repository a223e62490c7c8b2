import { splitLines } from '../../children/lines.ts';
import type { LineSplitter } from '../../children/lines.ts';

/** In characters. A minute of the quickest speech, with times and probabilities, is about 100,000. */
const longestAnswer = 1024 * 1024;

/** The lines that a child answers with, each asked for before it comes. What comes unasked is dropped. */
export interface Answers {
  /** Takes output as it comes. Throws when there is no end of it. */
  push(chunk: Buffer): void;
  /** Whoever waits, or asks from now on, gets this error; the first one counts. */
  end(error: Error): void;
  /** The next line; one at a time. */
  next(): Promise<string>;
}

export function createAnswers(): Answers {
  let lines: LineSplitter | undefined;
  let awaited: PromiseWithResolvers<string> | undefined;
  let over: Error | undefined;
  return {
    push(chunk) {
      if (over === undefined) lines?.push(chunk);
    },
    end(error) {
      over ??= error;
      awaited?.reject(over);
    },
    next() {
      awaited = Promise.withResolvers<string>();
      // Anew for each: the child lives long, and a splitter bounds all that it is given.
      lines = splitLines(awaited.resolve, longestAnswer);
      if (over !== undefined) awaited.reject(over);
      return awaited.promise;
    },
  };
}
