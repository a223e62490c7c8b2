/**
 * Where the samples of a recording go. They follow each other as they are decoded: none is ever left out. Silence
 * comes between them only where the recording itself has a gap, so that times are those that a player shows.
 */

/**
 * What packets say of themselves, in the order in which they are decoded, in ms. Those that follow each other exactly are
 * counted together, up to a second: of four hours there may be 720,000.
 */
export class PacketTimes {
  readonly startsMs: number[] = [];
  readonly lengthsMs: number[] = [];
  /** Of all samples. */
  lengthMs = 0;

  push(startMs: number, lengthMs: number): void {
    this.lengthMs += lengthMs;
    const last = this.startsMs.length - 1;
    const isNext = Math.abs(this.startsMs[last]! + this.lengthsMs[last]! - startMs) < exactMs;
    if (isNext && this.lengthsMs[last]! < secondMs) {
      this.lengthsMs[last]! += lengthMs;
    } else {
      this.startsMs.push(startMs);
      this.lengthsMs.push(lengthMs);
    }
  }
}

export interface Gap {
  /** So many ms of samples stand before it. */
  atMs: number;
  gapMs: number;
}

const secondMs = 1_000;
/** Containers round times to ms. */
const exactMs = 1;
/** Smaller gaps are not filled before they have become so large together. */
const jitterMs = 100;
/** Longer gaps are damaged times. Otherwise a file of 20 KB could claim days of silence. */
export const longestMs = 3_600_000;
/** Packets that are stamped when they arrive come late together, and catch up within this much sound. */
const catchUpMs = 10_000;

/**
 * Finds the gaps of a recording. A packet is so far ahead as its time is behind the end of the samples before it. A gap
 * moves all later packets ahead, while those that only arrived late are followed by others that are not: so the packet
 * that is least ahead in the next seconds tells the truth. Times that go back are those of a part that was joined to
 * the one before.
 * @returns in order, and whether the times are believed all the time
 */
export function gapsOf({ startsMs, lengthsMs, lengthMs }: PacketTimes): { gaps: Gap[]; areBelieved: boolean } {
  let atMs = 0;
  const ats = lengthsMs.map((packetMs) => (atMs += packetMs) - packetMs);
  const aheads = withoutSpikes(startsMs.map((startMs, index) => startMs - ats[index]!));
  const least = leastSoon(aheads, ats);
  const most = mostLately(aheads, ats);
  const found: Gap[] = [];
  let levelMs = least[0] ?? 0;
  for (const [index, leastMs] of least.entries()) {
    const gapMs = leastMs - levelMs;
    if (Math.abs(gapMs) < jitterMs || (gapMs > 0 && !isNew(index))) continue;
    levelMs = leastMs;
    if (gapMs > 0 && gapMs <= longestMs) found.push({ atMs: ats[index]!, gapMs });
  }
  const gaps = withoutFaster(found);
  return { gaps, areBelieved: gaps.length === found.length };

  /** Near the end nobody can tell whether packets would have caught up: a gap is where none was about so far ahead before. */
  function isNew(index: number): boolean {
    return ats[index]! + catchUpMs <= lengthMs || most[index - 1]! <= least[index]! - jitterMs;
  }
}

/** Where the sample rate changes, ffmpeg counts the time of one packet in units of the other rate. */
const withoutSpikes = (aheads: readonly number[]): number[] =>
  aheads.map((ahead, index) => {
    const [before, after] = [aheads[index - 1] ?? ahead, aheads[index + 1] ?? ahead];
    return Math.max(Math.min(before, after), Math.min(Math.max(before, after), ahead));
  });

/** @returns of each packet how far the one is ahead that is least so of those within the next seconds */
function leastSoon(aheads: readonly number[], ats: readonly number[]): number[] {
  const least: number[] = new Array(aheads.length);
  // Packets that are less ahead than all between them and this one; the nearest is last.
  const candidates: number[] = [];
  let first = 0;
  for (let index = aheads.length - 1; index >= 0; index -= 1) {
    while (candidates.length > first && aheads[candidates.at(-1)!]! >= aheads[index]!) candidates.pop();
    candidates.push(index);
    first = Math.min(first, candidates.length - 1);
    while (ats[candidates[first]!]! > ats[index]! + catchUpMs) first += 1;
    least[index] = aheads[candidates[first]!]!;
  }
  return least;
}

/** @returns of each packet how far the one is ahead that is most so of those within the last seconds */
const mostLately = (aheads: readonly number[], ats: readonly number[]): number[] => {
  const backwards = (numbers: readonly number[]) => numbers.toReversed().map((number) => -number);
  return backwards(leastSoon(backwards(aheads), backwards(ats)));
};

const fewSeconds = 3;

/**
 * Times that go faster than the samples, because their unit is another one than is said, have gaps in each of some seconds
 * on end. There they aren't believed.
 */
function withoutFaster(gaps: readonly Gap[]): Gap[] {
  const runs: Gap[][] = [];
  let last = -Infinity;
  for (const gap of gaps) {
    const second = Math.floor(gap.atMs / secondMs);
    if (second > last + 1) runs.push([]);
    runs.at(-1)!.push(gap);
    last = second;
  }
  return runs.filter((run) => !isFaster(run)).flat();
}

function isFaster(run: readonly Gap[]): boolean {
  const seconds = Math.floor(run.at(-1)!.atMs / secondMs) - Math.floor(run[0]!.atMs / secondMs) + 1;
  return seconds >= fewSeconds && run.reduce((sum, { gapMs }) => sum + gapMs, 0) > (seconds * secondMs) / 10;
}
