import fc from 'fast-check';
import { FairTurns } from '../../../src/concurrency/fair-turns.ts';

interface Running {
  account: string;
  end: () => void;
}

/** Turns whose work ends when the test says so, in the order in which it began. */
function observed(limits: { atOnce: number; each: number; patienceMs?: number }) {
  const turns = new FairTurns(limits);
  const begun: string[] = [];
  const running: Running[] = [];
  const ask = (account: string) =>
    turns.run(account, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      begun.push(account);
      running.push({ account, end: resolve });
      return promise;
    });
  const of = (account: string) => running.filter((one) => one.account === account).length;
  const endOne = async (index: number) => {
    running.splice(index % running.length, 1)[0]?.end();
    await new Promise(setImmediate);
  };
  return { ask, begun, running, of, endOne };
}

const limits = fc
  .record({ each: fc.integer({ min: 1, max: 4 }), more: fc.integer({ min: 1, max: 4 }) })
  .map(({ each, more }) => ({ each, atOnce: each + more }));
/** Which account asks, or which running work ends. */
const events = fc.array(
  fc.oneof(fc.record({ ask: fc.constantFrom('a', 'b', 'c', 'd') }), fc.record({ end: fc.nat(20) })),
  { maxLength: 60 },
);

test('whoever asks and ends → places and shares are kept, none that could be used stays empty, everybody is served', async () => {
  await fc.assert(
    fc.asyncProperty(limits, events, async (given, happening) => {
      const { ask, begun, running, of, endOne } = observed(given);
      const asked: Promise<void>[] = [];
      const waiting: Record<string, number> = {};
      for (const event of happening) {
        if ('ask' in event) asked.push(ask(event.ask));
        else if (running.length > 0) await endOne(event.end);
        await new Promise(setImmediate);
        expect(running.length).toBeLessThanOrEqual(given.atOnce);
        for (const account of ['a', 'b', 'c', 'd']) {
          const wanted = happening
            .slice(0, happening.indexOf(event) + 1)
            .filter((one) => 'ask' in one && one.ask === account);
          waiting[account] = wanted.length - begun.filter((one) => one === account).length;
          expect(of(account)).toBeLessThanOrEqual(given.each);
          const couldRun = waiting[account]! > 0 && of(account) < given.each;
          if (couldRun) expect(running.length).toBe(given.atOnce);
        }
      }
      while (running.length > 0) await endOne(0);
      await Promise.all(asked);
      expect(begun).toHaveLength(asked.length);
    }),
  );
});

test('one account wants very much, others come later → it gets no other turn before each of them had theirs', async () => {
  const { ask, begun, endOne } = observed({ atOnce: 2, each: 1 });
  const greedy = Array.from({ length: 50 }, () => ask('greedy'));
  const others = ['a', 'b', 'c'].map((account) => ask(account));
  await new Promise(setImmediate);
  expect(begun).toEqual(['greedy', 'a']);
  for (let i = 0; i < 4; i += 1) await endOne(0);
  expect(begun).toEqual(['greedy', 'a', 'b', 'c', 'greedy']);
  while (begun.length < 53) await endOne(0);
  await endOne(0);
  await Promise.all([...greedy, ...others]);
});

test('work that takes longer than others should wait → they get its place, its own account does not', async () => {
  const { ask, begun, endOne, running } = observed({ atOnce: 2, each: 1, patienceMs: 1 });
  const slow = [ask('slow'), ask('slower'), ask('slow')];
  // Both places are taken: these begin because nobody waits for slow work.
  const quick = [ask('quick'), ask('quicker')];
  while (!begun.includes('quicker')) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(begun).toEqual(['slow', 'slower', 'quick', 'quicker']);
  while (running.length > 0) await endOne(0);
  await Promise.all([...slow, ...quick]);
  expect(begun).toHaveLength(5);
});

test('work that fails → told, and its place is free again', async () => {
  const turns = new FairTurns({ atOnce: 2, each: 1 });
  await expect(turns.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await turns.run('a', async () => 'done')).toBe('done');
});

test('whoever waits leaves → its work never begins, and those behind it are served', async () => {
  const turns = new FairTurns({ atOnce: 2, each: 1 });
  const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const leaving = new AbortController();
  const begun: string[] = [];
  const ask = (name: string, until: Promise<void>, signal?: AbortSignal) =>
    turns.run('a', () => (begun.push(name), until), signal);
  const running = ask('first', first.promise);
  const left = ask('left', first.promise, leaving.signal);
  const behind = ask('behind', last.promise);
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  first.resolve();
  await running;
  last.resolve();
  await behind;
  expect(begun).toEqual(['first', 'behind']);
});
