import { inSlices, joined } from '../../src/slices.ts';

test('a long text → whole, and others run while it is put together', async () => {
  let turns = 0;
  let isDone = false;
  const others = () => {
    turns += 1;
    if (!isDone) setImmediate(others);
  };
  setImmediate(others);
  const pieces = Array.from({ length: 300_000 }, (_, index) => `${index}\n`);
  const text = await inSlices(joined(pieces));
  isDone = true;
  expect(text).toBe(pieces.join(''));
  expect(turns).toBeGreaterThan(1);
});

test('nothing → an empty text', async () => {
  expect(await inSlices(joined([]))).toBe('');
});

test('work that fails → rejects with its error', async () => {
  const failing = function* (): Generator<undefined, never> {
    yield;
    throw new Error('no more');
  };
  await expect(inSlices(failing())).rejects.toThrow('no more');
});
