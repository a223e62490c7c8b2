import fc from 'fast-check';
import { Batches } from '../../../src/api/batches.ts';

test('a batch that nobody answers → the next one runs all the same, after a while', async () => {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<string[]>();
  const batches = new Batches<string>(
    async (entries) => {
      if (entries.includes('stuck')) return first.promise;
      second.resolve(entries);
    },
    { maxEntries: 1, maxAtOnce: 1, accountOf: (entry) => entry },
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
    { maxEntries: 1, maxAtOnce: 2, accountOf: () => 'one' },
  );
  for (let entry = 0; entry < 20; entry += 1) batches.entry(String(entry), () => entry);
  await done.promise;
  expect(most).toBe(2);
});

test('more wait than fit → accounts take turns, each in its own order, and nothing is handled twice', async () => {
  const handled: string[][] = [];
  const first = Promise.withResolvers<void>();
  const batches = new Batches<string>(
    (entries) => {
      handled.push(entries);
      return first.promise;
    },
    { maxEntries: 4, maxAtOnce: 1, accountOf: ([account]) => account! },
  );
  const ask = (...entries: string[]) => entries.forEach((entry) => batches.entry(entry, () => entry));
  ask('a0');
  await new Promise(setImmediate);
  ask('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'a1', 'c1');
  first.resolve();
  while (handled.flat().length < 10) await new Promise(setImmediate);
  expect(handled).toEqual([['a0'], ['a1', 'b1', 'c1', 'a2'], ['a3', 'b2', 'a4', 'a5'], ['a6']]);
});

test('whatever is asked for → handled once, in batches that are full while more wait, none passed over for long', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(5), { maxLength: 80 }),
      fc.integer({ min: 1, max: 9 }),
      async (asked, maxEntries) => {
        const handled: string[][] = [];
        const batches = new Batches<string>(async (entries) => void handled.push(entries), {
          ...{ maxEntries, maxAtOnce: 1 },
          accountOf: (entry) => entry.split('/')[0]!,
        });
        const entries = asked.map((account, index) => `${account}/${index}`);
        for (const entry of entries) batches.entry(entry, () => entry);
        while (handled.flat().length < entries.length) await new Promise(setImmediate);
        expect(handled.flat().sort()).toEqual([...entries].sort());
        for (const batch of handled.slice(0, -1)) expect(batch).toHaveLength(maxEntries);
        // Of two accounts that wait, neither gets two more than the other.
        for (const batch of handled.slice(0, -1)) {
          const left = handled.slice(handled.indexOf(batch) + 1).flat();
          const accounts = new Set(left.map((entry) => entry.split('/')[0]));
          const got = [...accounts].map((account) => batch.filter((entry) => entry.startsWith(`${account}/`)).length);
          expect(Math.max(...got) - Math.min(...got)).toBeLessThanOrEqual(1);
        }
      },
    ),
  );
});
