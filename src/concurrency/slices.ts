import { setImmediate as letOthersRun } from 'node:timers/promises';

const sliceMs = 2;
/** The last slice in the line. */
let turn = Promise.resolve();

/**
 * Does long work in slices of about 2 ms, so that requests are answered in between. All such work stands in one line: between
 * two slices the event loop turns once, however much is to be done.
 *
 * @param work pauses wherever it yields, if its time is over
 * @returns what the work returns
 */
export async function inSlices<Result>(work: Generator<unknown, Result>): Promise<Result> {
  for (;;) {
    const end = performance.now() + sliceMs;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
    turn = turn.then(() => letOthersRun());
    await turn;
  }
}

/** The pieces of a text as one, as work for {@link inSlices}. */
export function* joined(pieces: Iterable<string>): Generator<undefined, string> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    yield;
  }
  return text;
}
