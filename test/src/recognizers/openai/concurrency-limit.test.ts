/** Servers of different kinds, in a time that the test lets pass. */
import { ConcurrencyLimit } from '../../../../src/recognizers/openai/concurrency-limit.ts';
import type { Sent } from '../../../../src/recognizers/openai/measured.ts';

interface Kind {
  /** How many requests it works on at once. */
  atOnce: (second: number) => number;
  /** How quickly it works on each, as a part of its best. */
  pace?: (inFlight: number) => number;
  /** It refuses with 429 what is beyond. */
  mayTake?: (second: number) => number;
  /** By which part of 2 s requests take more or less, at most. */
  spread?: number;
}

const flatTo64: Kind = { atOnce: () => 64 };
const saturatedAt8: Kind = { atOnce: () => 8 };
const worseBeyond16: Kind = { atOnce: () => Infinity, pace: (inFlight) => Math.min(1, (16 / inFlight) ** 2) };
const serial: Kind = { atOnce: () => 1 };
const stormy: Kind = { ...flatTo64, mayTake: (second) => (second >= 60 && second < 90 ? 4 : Infinity) };
const scaled: Kind = { atOnce: (second) => (second >= 100 && second < 400 ? 32 : 4) };

const tickMs = 50;
const requestMs = 2_000;
const audioMs = 120_000;

interface Seen {
  second: number;
  inFlight: number;
  answered: number;
}

/**
 * Each request takes a little more or less than 2 s, or much more or less.
 * @param requests without end unless given
 * @param offered how many there are to send at once, at most
 */
function run(
  kind: Kind,
  seed: number,
  seconds: number,
  requests = Infinity,
  limit = new ConcurrencyLimit(256),
  offered = Infinity,
) {
  const random = randomOf(seed);
  const seen: Seen[] = [];
  let open: { sent: Sent; leftMs: number }[] = [];
  let [sent, refused] = [0, 0];
  for (let now = 0; now < seconds * 1000; now += tickMs) {
    const second = now / 1000;
    while (limit.inFlight < Math.min(limit.count, offered) && sent < requests) {
      const own = limit.sent(now);
      if (open.length >= (kind.mayTake?.(second) ?? Infinity)) {
        refused += 1;
        limit.overloaded(own, now);
      } else {
        sent += 1;
        open.push({ sent: own, leftMs: requestMs * (1 + (kind.spread ?? 0.1) * (2 * random() - 1)) });
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

/** The same numbers from 0 to 1 for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const seeds = Array.from({ length: 20 }, (_, index) => 7_919 * (index + 1));
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const from = (second: number, seen: readonly Seen[], to = Infinity) =>
  seen.filter((each) => each.second >= second && each.second < to);
const meanInFlight = (seen: readonly Seen[]) => seen.reduce((sum, { inFlight }) => sum + inFlight, 0) / seen.length;

/** The part of what the server could have answered that it did. */
function share(seen: readonly Seen[], best: (second: number) => number): number {
  const possible = seen.reduce((sum, { second }) => sum + (best(second) / requestMs) * tickMs, 0);
  return seen.reduce((sum, { answered }) => sum + answered, 0) / possible;
}

test.each<[string, Kind, (second: number) => number, number]>([
  ['is as quick with 64 as with one', flatTo64, () => 64, 0.95],
  ['works on 8', saturatedAt8, () => 8, 0.95],
  ['gets worse beyond 16', worseBeyond16, () => 16, 0.9],
  ['works on one', serial, () => 1, 0.95],
  ['gets 32 devices for 4, and loses them', scaled, scaled.atOnce, 0.87],
])('a server that %s → most of what it can, after 30 s', (_, kind, best, least) => {
  const shares = seeds.map((seed) => share(from(30, run(kind, seed, 600).seen), best));
  expect(median(shares)).toBeGreaterThanOrEqual(least);
});

test.each<[string, Kind, number, number, number]>([
  ['32 devices for 4', { atOnce: (second) => (second >= 30 ? 32 : 4) }, 32, 60, 110],
  ['all its room after a storm of 429', stormy, 64, 110, 180],
  [
    '16 at once after 20 s for two',
    { atOnce: () => 16, mayTake: (at) => (at >= 20 && at < 40 ? 2 : Infinity) },
    16,
    65,
    90,
  ],
])('a server that gets %s → most of it, half a minute later', (_, kind, best, begin, end) => {
  const shares = seeds.map((seed) => share(from(begin, run(kind, seed, end).seen, end), () => best));
  expect(median(shares)).toBeGreaterThanOrEqual(0.9);
});

test.each<[string, Kind, number, number]>([
  ['is as quick with 64 as with one', flatTo64, 64, 0.95],
  ['works on 8', saturatedAt8, 8, 0.95],
  ['gets worse beyond 16', worseBeyond16, 16, 0.9],
  ['works on one', serial, 1, 0.95],
  ['refuses what is beyond 4', { atOnce: () => Infinity, mayTake: () => 4 }, 4, 0.85],
  ['refuses all but 4 for half a minute', stormy, 64, 0.9],
])('requests of 0.8 to 3.2 s, and a server that %s → chance misleads it little', (_, kind, best, least) => {
  const shares = seeds.map((seed) => share(from(110, run({ ...kind, spread: 0.6 }, seed, 600).seen), () => best));
  expect(median(shares)).toBeGreaterThanOrEqual(least);
});

test('a server that works on one at a time → others wait here', () => {
  const inFlight = seeds.map((seed) => meanInFlight(from(60, run(serial, seed, 600).seen)));
  expect(median(inFlight)).toBeLessThanOrEqual(1.05);
});

describe('ten recordings at once, fewer than a server gets at first', () => {
  const tenAtOnce = (kind: Kind, seed: number) => run(kind, seed, 600, Infinity, undefined, 10).seen;

  test('one at a time → nine of them wait here', () => {
    const inFlight = seeds.map((seed) => meanInFlight(from(60, tenAtOnce(serial, seed))));
    expect(median(inFlight)).toBeLessThanOrEqual(1.05);
  });

  test.each<[string, Kind, number]>([
    ['as quick with 64 as with one', flatTo64, 10],
    ['works on 8', saturatedAt8, 8],
  ])('%s → as many are heard as it can', (_, kind, best) => {
    const shares = seeds.map((seed) => share(from(30, tenAtOnce(kind, seed)), () => best));
    expect(median(shares)).toBeGreaterThanOrEqual(0.95);
  });
});

describe('a server of a kind that works on one at a time', () => {
  const begun = (kind: Kind, seed: number, seconds: number) => {
    const limit = new ConcurrencyLimit(256);
    limit.beginWithOne();
    return run(kind, seed, seconds, Infinity, limit).seen;
  };

  test('→ others wait here from the beginning', () => {
    const inFlight = seeds.map((seed) => meanInFlight(begun(serial, seed, 60)));
    expect(median(inFlight)).toBeLessThanOrEqual(1.25);
  });

  test('of which there are eight → they are found', () => {
    const shares = seeds.map((seed) => share(from(60, begun(saturatedAt8, seed, 600)), () => 8));
    expect(median(shares)).toBeGreaterThanOrEqual(0.9);
  });

  test('that has answered → what was found stays', () => {
    const limit = new ConcurrencyLimit(256);
    limit.back(limit.sent(0), 1_900, audioMs);
    limit.beginWithOne();
    expect(limit.count).toBe(16);
  });
});

test('a server that lost devices → what is in flight follows', () => {
  const inFlight = seeds.map((seed) => meanInFlight(from(550, run(scaled, seed, 700).seen)));
  expect(median(inFlight)).toBeLessThanOrEqual(8);
});

test('a server as quick with 64 as with one → 128 requests within 2.5 times its own 4 s', () => {
  const answered = seeds.map((seed) =>
    run(flatTo64, seed, 10, 128).seen.reduce((sum, { answered }) => sum + answered, 0),
  );
  expect(median(answered)).toBe(128);
});

test('a server that refuses what is beyond 32 → as many as it takes', () => {
  const limited: Kind = { atOnce: () => Infinity, mayTake: () => 32 };
  const shares = seeds.map((seed) => share(from(30, run(limited, seed, 600).seen), () => 32));
  expect(median(shares)).toBeGreaterThanOrEqual(0.9);
});

test('a storm of 429 → halved for each wave, not for each refusal, and back after it', () => {
  const { limit, seen, refused } = run(stormy, seeds[0]!, 300);
  const before = seen.find(({ second }) => second === 59)!.inFlight;
  expect(before).toBeGreaterThanOrEqual(48);
  expect(refused).toBeLessThan(100);
  expect(limit.count).toBeGreaterThanOrEqual(48);
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
