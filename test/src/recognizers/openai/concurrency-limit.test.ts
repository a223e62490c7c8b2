/** Servers of different kinds, in a time that the test lets pass. */
import { ConcurrencyLimit } from '../../../../src/recognizers/openai/concurrency-limit.ts';
import { randomOf } from '../../../rig/random.ts';
import type { Sent } from '../../../../src/recognizers/openai/concurrency-limit.ts';

interface Kind {
  /** How many requests it works on at once. */
  atOnce: (second: number) => number;
  /** How quickly it works on each, as a part of its best. */
  pace?: (inFlight: number) => number;
  /** It refuses with 429 what is beyond. */
  mayTake?: (second: number) => number;
}

const flatTo64: Kind = { atOnce: () => 64 };
const worseBeyond16: Kind = { atOnce: () => Infinity, pace: (inFlight) => Math.min(1, (16 / inFlight) ** 2) };
const serial: Kind = { atOnce: () => 1 };
const stormy: Kind = { ...flatTo64, mayTake: (second) => (second >= 60 && second < 90 ? 4 : Infinity) };
const scaled: Kind = { atOnce: (second) => (second >= 100 ? 32 : 4) };

const tickMs = 50;
const requestMs = 2_000;
const audioMs = 120_000;

/** Each request takes a little more or less than 2 s. @param requests without end unless given */
function run(kind: Kind, seed: number, seconds: number, requests = Infinity) {
  const limit = new ConcurrencyLimit(256);
  const random = randomOf(seed);
  const seen: { second: number; inFlight: number; answered: number }[] = [];
  let open: { sent: Sent; leftMs: number }[] = [];
  let [sent, refused] = [0, 0];
  for (let now = 0; now < seconds * 1000; now += tickMs) {
    const second = now / 1000;
    while (limit.inFlight < limit.count && sent < requests) {
      const own = limit.sent(now);
      if (open.length >= (kind.mayTake?.(second) ?? Infinity)) {
        refused += 1;
        limit.overloaded(own, now);
      } else {
        sent += 1;
        open.push({ sent: own, leftMs: random.between(0.8 * requestMs, 1.2 * requestMs) });
      }
    }
    const pace = kind.pace?.(open.length) ?? 1;
    for (const each of open.slice(0, kind.atOnce(second))) each.leftMs -= tickMs * pace;
    const done = open.filter(({ leftMs }) => leftMs <= 0);
    open = open.filter(({ leftMs }) => leftMs > 0);
    for (const each of done) limit.back(each.sent, now + tickMs, audioMs);
    seen.push({ second, inFlight: limit.inFlight, answered: done.length });
  }
  return { limit, seen, refused };
}

const seeds = Array.from({ length: 20 }, (_, index) => 7_919 * (index + 1));
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

test.each<[string, Kind, number, number, (second: number) => number, number, number]>([
  ['is as quick with 64 as with one', flatTo64, 30, 600, () => 64, 0.9, 96],
  ['gets worse beyond 16', worseBeyond16, 30, 600, () => 16, 0.8, 20],
  ['works on one, so that others wait here', serial, 30, 600, () => 1, 0.95, 2],
  ['gets 32 devices for 4, half a minute later', scaled, 130, 400, () => 32, 0.9, 64],
  ['refused all but 4, half a minute later', stormy, 120, 300, () => 64, 0.8, 96],
  ['takes 32', { atOnce: () => 64, mayTake: () => 32 }, 30, 600, () => 32, 0.7, 32],
])('a server that %s → most of what it can, and not many more than that', (_, kind, from, to, best, least, most) => {
  const runs = seeds.map((seed) => run(kind, seed, to).seen.filter(({ second }) => second >= from));
  const possible = (sumOf(runs[0]!.map(({ second }) => best(second))) * tickMs) / requestMs;
  expect(median(runs.map((seen) => sumOf(seen.map(({ answered }) => answered)) / possible))).toBeGreaterThan(least);
  expect(median(runs.map((seen) => sumOf(seen.map(({ inFlight }) => inFlight)) / seen.length))).toBeLessThan(most);
});

test('from nothing, 64 at once → 128 requests in 2.8 times its own 4 s', () => {
  const answered = seeds.map((seed) => sumOf(run(flatTo64, seed, 11.2, 128).seen.map((each) => each.answered)));
  expect(median(answered)).toBe(128);
});

test('a storm of 429 → halved for each wave, not for each refusal', () => {
  expect(run(stormy, seeds[0]!, 300).refused).toBeLessThan(150);
});

test('too little to do → the limit stays', () => {
  const limit = new ConcurrencyLimit(256);
  const before = limit.count;
  for (let now = 0; now < 600_000; now += 2_000) limit.back(limit.sent(now), now + 1_900, audioMs);
  expect(limit.count).toBe(before);
});

test('never more than its most, never less than one', () => {
  const limit = new ConcurrencyLimit(4);
  expect(limit.count).toBe(4);
  for (let now = 0; now < 10; now += 1) limit.overloaded(limit.sent(now), now);
  expect(limit.count).toBe(1);
});
