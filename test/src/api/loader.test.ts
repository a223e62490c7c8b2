import fc from 'fast-check';
import { Loader } from '../../../src/api/loader.ts';

test('a batch that nobody answers → the next one runs all the same, after a while', async () => {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<string[]>();
  const loader = new Loader<string, void>(
    async (keys) => {
      if (keys.includes('stuck')) await first.promise;
      else second.resolve(keys);
      return [undefined];
    },
    { maxBatchSize: 1, maxAtOnce: 1, accountOf: (key) => key },
  );
  void loader.load('stuck');
  void loader.load('next');
  expect(await second.promise).toEqual(['next']);
  first.resolve();
});

test('no batch is late → never more at once than allowed', async () => {
  let running = 0;
  let most = 0;
  const loader = new Loader<number, number>(
    async (keys) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return keys;
    },
    { maxBatchSize: 1, maxAtOnce: 2, accountOf: () => 'one' },
  );
  await Promise.all(Array.from({ length: 20 }, (_, key) => loader.load(key)));
  expect(most).toBe(2);
});

test('more wait than fit → accounts take turns, each in its own order, and nothing is handled twice', async () => {
  const handled: string[][] = [];
  const first = Promise.withResolvers<void>();
  const loader = new Loader<string, string>(
    async (keys) => {
      handled.push(keys);
      await first.promise;
      return keys;
    },
    { maxBatchSize: 4, maxAtOnce: 1, accountOf: ([account]) => account!, cacheKeyOf: (key) => key },
  );
  const ask = (...keys: string[]) => keys.forEach((key) => void loader.load(key));
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
      async (asked, maxBatchSize) => {
        const handled: string[][] = [];
        const load = async (keys: string[]) => {
          handled.push(keys);
          return keys;
        };
        const loader = new Loader(load, { maxBatchSize, maxAtOnce: 1, accountOf: (key) => key.split('/')[0]! });
        const entries = asked.map((account, index) => `${account}/${index}`);
        expect(await Promise.all(entries.map((entry) => loader.load(entry)))).toEqual(entries);
        expect(handled.flat().sort()).toEqual([...entries].sort());
        for (const batch of handled.slice(0, -1)) expect(batch).toHaveLength(maxBatchSize);
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

const ofOneAccount = { maxBatchSize: 10, maxAtOnce: 1, accountOf: () => 'one', cacheKeyOf: (key: string) => key };

test('more questions than a statement takes, some the same → every one answered, the same ones together', async () => {
  const batches: string[][] = [];
  const read = async (questions: string[]) => {
    batches.push(questions);
    return questions.map((question) => question.toUpperCase());
  };
  const loader = new Loader(read, { ...ofOneAccount, maxBatchSize: 2 });
  const answers = await Promise.all(['a', 'a', 'b', 'b', 'c', 'd', 'e'].map((question) => loader.load(question)));
  expect(answers).toEqual(['A', 'A', 'B', 'B', 'C', 'D', 'E']);
  expect(batches).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('the database is away → those who asked are told, the next are answered', async () => {
  let isAway = true;
  const read = async (questions: string[]) => {
    if (isAway) throw new Error('Connection terminated');
    return questions;
  };
  const loader = new Loader(read, ofOneAccount);
  const failed = await Promise.allSettled([loader.load('a'), loader.load('b')]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isAway = false;
  expect(await loader.load('a')).toBe('a');
});

test('one of many that were asked for can not be read → only that one fails', async () => {
  const read = async (questions: string[]) => {
    if (questions.includes('damaged')) throw new Error('invalid page in block 7');
    return questions;
  };
  const loader = new Loader(read, ofOneAccount);
  const settled = await Promise.allSettled(['a', 'damaged', 'b'].map((question) => loader.load(question)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('the same key twice, and no answer may be shared → each has its own', async () => {
  let number = 0;
  const load = async (keys: string[]) => keys.map(() => (number += 1));
  const loader = new Loader(load, { maxBatchSize: 10, maxAtOnce: 1, accountOf: () => 'one' });
  expect(await Promise.all(['a', 'a', 'a'].map((key) => loader.load(key)))).toEqual([1, 2, 3]);
});
