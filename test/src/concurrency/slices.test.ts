import { inSlices, joined } from '../../../src/concurrency/slices.ts';

/** How often the event loop turns until `work` has ended, and what it results in. */
async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
  let turns = 0;
  let isDone = false;
  const others = () => {
    turns += 1;
    if (!isDone) setImmediate(others);
  };
  setImmediate(others);
  const result = await work();
  isDone = true;
  return { turns, result };
}

test('a long text → whole, and others run while it is put together', async () => {
  const pieces = Array.from({ length: 300_000 }, (_, index) => `${index}\n`);
  const { turns, result } = await turnsDuring(() => inSlices(joined(pieces)));
  expect(result).toBe(pieces.join(''));
  expect(turns).toBeGreaterThan(1);
});

test('work that fails → rejects with its error', async () => {
  const failing = function* (): Generator<undefined, never> {
    yield;
    throw new Error('no more');
  };
  await expect(inSlices(failing())).rejects.toThrow('no more');
});

test('much work at once → the event loop turns once between two slices, whosever they are', async () => {
  // Each step is a slice.
  const work = function* (): Generator<undefined, void> {
    for (let step = 0; step < 4; step += 1) {
      for (const end = performance.now() + 3; performance.now() < end;);
      yield;
    }
  };
  const { turns } = await turnsDuring(() => Promise.all(Array.from({ length: 10 }, () => inSlices(work()))));
  expect(turns).toBeGreaterThanOrEqual(10 * 3);
});
