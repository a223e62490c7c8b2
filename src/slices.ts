import { setImmediate as letOthersRun } from 'node:timers/promises';

const sliceMs = 2;

/**
 * Does long work in slices of about 2 ms, so that requests are answered in between.
 * @param work pauses wherever it yields, if its time is over
 * @returns what the work returns
 */
export async function inSlices<Result>(work: Generator<unknown, Result>): Promise<Result> {
  let began = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - began < sliceMs) continue;
    await letOthersRun();
    began = performance.now();
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
