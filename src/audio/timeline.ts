/**
 * The one timeline of a recording, on which nothing goes back. Recordings that were joined byte by byte begin again at
 * 0; their audio is appended instead of being dropped. Gaps stay, so that times match the picture and the player.
 */
export interface Place {
  startMs: number;
  lengthMs: number;
}

/** A smaller step back is jitter, and a smaller gap is not filled before others make it large enough. */
const jitterMs = 100;

/** A longer gap is treated as a damaged timestamp. Otherwise a file of 20 KB could claim days of silence. */
const longestGapMs = 3_600_000;

/**
 * The bitstream filter that moves the timestamp of each packet to its end on the timeline. Registers: 1 is the shift so
 * far, 2 the end so far, 3 the start of this packet. A length that is too long counts as damaged, and as 0.
 */
export const endsOnTimeline = `setts=ts='${[
  'st(3,if(isnan(TS),ld(2),TS+ld(1)))',
  `if(lt(ld(3),ld(2)-${jitterMs / 1000}/TB)+gt(ld(3),ld(2)+${longestGapMs / 1000}/TB),st(1,ld(1)+ld(2)-ld(3));st(3,ld(2)))`,
  `st(2,max(ld(2),ld(3)+if(gt(DURATION,${longestGapMs / 1000}/TB),0,DURATION)))`,
  'ld(2)',
].join(';')}'`;

/**
 * Puts decoded packets on the timeline. ffmpeg would fill gaps itself (`aresample=async`), but it begins anew whenever
 * channels or sample rate change.
 */
export class Timeline {
  readonly #pictureStart: () => Promise<number | undefined>;
  #shiftMs = 0;
  /** The end by the times of the packets, and the end of what was written. */
  #endMs = 0;
  #writtenMs = 0;

  /** @param pictureStart when the picture begins, in ms; asked once at most, when sound begins late */
  constructor(pictureStart: () => Promise<number | undefined>) {
    this.#pictureStart = pictureStart;
  }

  /**
   * @param next the packet behind it
   * @returns how much silence belongs before a packet, in ms; less than 0 where the packet begins with what is there
   *   already
   */
  async gapBefore({ startMs, lengthMs }: Place, next: Place | undefined): Promise<number> {
    const step = startMs + this.#shiftMs - this.#endMs;
    const isAlone = Math.abs(step) >= jitterMs && this.#isAlone(lengthMs, next);
    const isDamaged = step < -jitterMs || step > longestGapMs;
    if (isDamaged && !isAlone) this.#shiftMs -= step;
    const start = isDamaged || isAlone ? this.#endMs : this.#endMs + step;
    this.#endMs = Math.max(this.#endMs, start + lengthMs);

    const gapMs = start - this.#writtenMs;
    const kept = Math.abs(gapMs) < jitterMs ? 0 : gapMs > 0 ? await this.#seen(gapMs) : Math.max(gapMs, -lengthMs);
    this.#writtenMs += kept + lengthMs;
    return kept;
  }

  /**
   * Whether only this packet is off, because the next one follows what came before: where the sample rate changes,
   * ffmpeg counts the time of one packet in units of the other rate.
   */
  #isAlone(lengthMs: number, next: Place | undefined): boolean {
    return next !== undefined && Math.abs(next.startMs + this.#shiftMs - this.#endMs - lengthMs) < jitterMs;
  }

  /** Sound that begins late is late for the picture. Where both are late, nobody has to wait. */
  async #seen(gapMs: number): Promise<number> {
    if (this.#writtenMs >= beginningMs) return gapMs;
    const pictureMs = (await this.#pictureStart()) ?? 0;
    const unseenMs = Math.min(gapMs, Math.max(0, pictureMs - this.#writtenMs));
    this.#shiftMs -= unseenMs;
    this.#endMs -= unseenMs;
    return gapMs - unseenMs;
  }
}

/** Encoders put less than this before the first sound. */
const beginningMs = 500;
