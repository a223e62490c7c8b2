import { splitLines } from '../../children/lines.ts';
import type { LineSplitter } from '../../children/lines.ts';

/** In characters. A minute of the quickest speech, with times and probabilities, takes about 100,000. */
const longestAnswer = 1024 * 1024;

/** The lines that a child answers with. Each is asked for before it comes; a line that nobody asked for is dropped. */
export interface Answers {
  /** Takes output as it comes. Throws when a line is too long. */
  push(chunk: Buffer): void;
  /** Rejects the answer that is waited for, and all later ones. Only the first error counts. */
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
      // A new splitter for each answer: it bounds all that it is given, and the child lives long.
      lines = splitLines(awaited.resolve, longestAnswer);
      if (over !== undefined) awaited.reject(over);
      return awaited.promise;
    },
  };
}
