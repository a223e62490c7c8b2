/** Where samples go, whatever packets say of their times. */
import * as fc from 'fast-check';
import { PacketTimes, gapsOf } from '../../../src/audio/timeline.ts';

const packetMs = 20;

/** @param startMs of a packet, by the end of the samples before it */
function packets(seconds: number, startMs: (atMs: number) => number): PacketTimes {
  const times = new PacketTimes();
  for (let atMs = 0; atMs < seconds * 1_000; atMs += packetMs) times.push(startMs(atMs), packetMs);
  return times;
}

const batches = (ms: number) => (atMs: number) => Math.floor(atMs / ms) * ms;

test.each<[string, PacketTimes]>([
  ['that follow each other', packets(60, (atMs) => atMs)],
  ['that all say 0', packets(60, () => 0)],
  ['twice as fast, by pages of a second', packets(60, (atMs) => batches(1_000)(atMs) + atMs)],
  ['at a third', packets(60, (atMs) => atMs / 3)],
  ['stamped when a batch of 5 s came', packets(61.3, batches(5_000))],
  ['stalled for 0.4 s every 5 s, and caught up', packets(60, (atMs) => atMs + Math.max(0, 400 - (atMs % 5_000) / 2))],
  ['of which one is far off', packets(60, (atMs) => (atMs === 8_000 ? 90_000 : atMs))],
  ['of which one is far behind', packets(12, (atMs) => (atMs === 8_000 ? 1_000 : atMs))],
  ['at three times the pace from some time on', packets(8, (atMs) => (atMs < 5_000 ? atMs : 3 * atMs - 10_000))],
  ['that begin again', packets(60, (atMs) => atMs % 20_000)],
  ['that begin late', packets(60, (atMs) => atMs + 4_000)],
  ['that leap by 2 hours', packets(60, (atMs) => (atMs < 30_000 ? atMs : atMs + 7_200_000))],
])('a minute of packets %s → no gap', (_, times) => {
  expect(gapsOf(times).gaps).toEqual([]);
});

test.each<[string, PacketTimes, [atMs: number, gapMs: number][]]>([
  ['a pause near the end', packets(11, (atMs) => (atMs < 10_000 ? atMs : atMs + 700)), [[10_000, 700]]],
  ['a leap of 50 minutes', packets(4, (atMs) => (atMs < 2_000 ? atMs : atMs + 3_000_000)), [[2_000, 3_000_000]]],
  [
    'a pause in each of two parts that were joined',
    packets(60, (atMs) => (atMs % 30_000) + (atMs % 30_000 < 10_000 ? 0 : 2_500)),
    [
      [10_000, 2_500],
      [40_000, 2_500],
    ],
  ],
  [
    'a pause among batches of half a second',
    packets(60, (atMs) => batches(500)(atMs) + (atMs < 30_000 ? 0 : 8_000)),
    [[30_000, 8_000]],
  ],
])('%s → kept', (_, times, gaps) => {
  expect(gapsOf(times).gaps.map(({ atMs, gapMs }) => [atMs, gapMs])).toEqual(gaps);
});

const lengthMs = fc.integer({ min: 1, max: 3_000 });

test('any times at all → each sample once and in order; nothing but silence between them', () => {
  const any = fc.array(fc.tuple(fc.oneof(fc.nat(10_000), fc.integer(), fc.constant(0)), lengthMs), { maxLength: 200 });
  fc.assert(
    fc.property(any, (made) => {
      const times = new PacketTimes();
      for (const [startMs, packetLengthMs] of made) times.push(startMs, packetLengthMs);
      let beforeMs = -1;
      for (const { atMs, gapMs } of gapsOf(times).gaps) {
        expect(atMs > beforeMs && atMs < times.lengthMs && gapMs > 0 && gapMs <= 3_600_000).toBe(true);
        beforeMs = atMs;
      }
    }),
  );
});

test('times that are true but for pauses → each packet within 100 ms of its time', () => {
  const stretch = fc.record({ packets: fc.integer({ min: 150, max: 400 }), pauseMs: fc.nat(20_000) });
  fc.assert(
    fc.property(fc.array(stretch, { minLength: 1, maxLength: 10 }), (stretches) => {
      const times = new PacketTimes();
      const wanted: number[] = [];
      let startMs = 0;
      for (const { packets: count, pauseMs } of stretches) {
        for (let packet = 0; packet < count; packet += 1, startMs += packetMs) {
          times.push(startMs, packetMs);
          wanted.push(startMs);
        }
        startMs += pauseMs;
      }
      const { gaps } = gapsOf(times);
      wanted.forEach((wantedMs, index) => {
        const atMs = index * packetMs;
        const silentMs = gaps.reduce((sum, gap) => sum + (gap.atMs <= atMs ? gap.gapMs : 0), 0);
        expect(Math.abs(atMs + silentMs - wantedMs)).toBeLessThan(100);
      });
    }),
    { numRuns: 30 },
  );
});

// Where each packet looks at all of the last seconds, this takes minutes.
test('400,000 packets of half a sample each, and a leap before each → not believed', () => {
  const times = new PacketTimes();
  for (let index = 0; index < 400_000; index += 1) times.push(index * 200, 1 / 32);
  expect(gapsOf(times)).toEqual({ gaps: [], areBelieved: false });
});
