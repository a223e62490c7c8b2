import { Batches } from '../../../src/api/batches.ts';

test('a batch that nobody answers → the next one runs all the same, after a while', async () => {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<string[]>();
  const batches = new Batches<string>(
    async (entries) => {
      if (entries.includes('stuck')) return first.promise;
      second.resolve(entries);
    },
    { maxEntries: 1, maxAtOnce: 1 },
  );
  batches.entry('stuck', () => 'stuck');
  batches.entry('next', () => 'next');
  expect(await second.promise).toEqual(['next']);
  first.resolve();
});

test('no batch is late → never more at once than allowed', async () => {
  let running = 0;
  let most = 0;
  const done = Promise.withResolvers<void>();
  let left = 20;
  const batches = new Batches<number>(
    async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      left -= 1;
      if (left === 0) done.resolve();
    },
    { maxEntries: 1, maxAtOnce: 2 },
  );
  for (let entry = 0; entry < 20; entry += 1) batches.entry(String(entry), () => entry);
  await done.promise;
  expect(most).toBe(2);
});
