/** When a server is asked, how many requests it has at once, and how often each is tried. */
import { FairTurns } from '../../concurrency/fair-turns.ts';
import { createSlots, unlessAborted } from '../in-chunks.ts';
import { RecognizerError } from '../recognizer.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { Refusal, judge } from './refusal.ts';
import type { Slots } from '../in-chunks.ts';
import type { RequestOutcome, ServerLoad } from '../../ops/speech-server.ts';

/** What is sent, and how long that may take. */
export interface RequestLimits {
  audioMs: number;
  /**
   * Counts from when its answer could begin. A server that works on one request at a time begins when it has answered
   * all that were sent before.
   */
  limitMs: number;
  signal: AbortSignal;
}

export interface RequestsOptions {
  /** At once, however quick the server gets. */
  most: number;
  /** Of a request that failed, but may succeed later. */
  retries: number;
  /** Sends one small request. @returns the refusal, as long as the server has no room */
  findRoom: (signal: AbortSignal) => Promise<Refusal | undefined>;
  /** Called when the server has no room for longer than a moment. */
  onBusy: () => void;
}

/** As OpenAI's own client does, unless a server asks for more: from half a second, each time twice as long, up to 8 s. */
const [firstPauseMs, mostPauseMs] = [500, 8_000];
/** Clients that were refused together don't come back together. */
const jitter = 0.25;
/** Whatever a server asks for, it is tried so soon. */
const longestPauseMs = 60_000;
/** A server that has no room for longer is worth telling. */
const shortPauseMs = 5_000;

function pauseMs(error: unknown, earlier: number): number {
  const asked = error instanceof Refusal ? error.retryAfterMs : undefined;
  const own = Math.min(firstPauseMs * 2 ** earlier, mostPauseMs) * (1 - jitter * Math.random());
  return Math.min(Math.max(asked ?? 0, own), longestPauseMs);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await unlessAborted(promise, signal).finally(() => clearTimeout(timer));
}

/** The requests of this process to one server. */
export class Requests {
  /** Why the server has had no room for a while. */
  busy: Refusal | undefined;
  readonly #options: RequestsOptions;
  readonly #limit: ConcurrencyLimit;
  readonly #inFlight: Slots & { count: number };
  readonly #turns: FairTurns;
  /** The time limits of those that wait for an answer, in the order in which they came. */
  readonly #timers = new Set<NodeJS.Timeout>();
  /** All chunks that are held. */
  #chunks = 0;
  /** The same, less the first of each recording. */
  #furtherChunks = 0;
  readonly #ended: Record<RequestOutcome, number> = { transcribed: 0, busy: 0, timed_out: 0, refused: 0, broken: 0 };
  /** Resolves when the server has room again; undefined while it has. */
  #room: Promise<void> | undefined;
  /** How often it had none since it transcribed something. */
  #refusals = 0;
  readonly #closing = new AbortController();

  constructor(options: RequestsOptions) {
    const limit = new ConcurrencyLimit(options.most);
    this.#options = options;
    this.#limit = limit;
    this.#inFlight = createSlots(limit.count);
    // One account may hold all places while no other waits.
    this.#turns = new FairTurns({
      get atOnce() {
        return limit.count;
      },
    });
  }

  /** Slots for the chunks of a recording: as many as the server takes at once. @param owner those of others take turns */
  slotsOf(owner: string): Slots {
    const limit = this.#limit;
    let held = 0;
    const hold = (by: number) => {
      const further = Math.max(0, held - 1);
      held += by;
      this.#chunks += by;
      this.#furtherChunks += Math.max(0, held - 1) - further;
    };
    return {
      get count() {
        return limit.count;
      },
      run: async (work, stop) => {
        hold(1);
        try {
          return await this.#turns.run(owner, work, stop);
        } finally {
          hold(-1);
        }
      },
    };
  }

  /**
   * How many recordings are held for the server, which needs no core of this machine for them: as many as it takes at
   * once, and a quarter more that are ready when it has room.
   */
  jobsAtOnce(): number {
    const { count } = this.#limit;
    // A long recording has many chunks, and uses the server with them. Others still get in.
    const inUse = Math.min(this.#furtherChunks, count - 1);
    // Before the first answer the wait of one more is unknown.
    const oneMore = this.#ended.transcribed > 0 ? 1 : 0;
    return Math.floor(1.25 * count) + oneMore - inUse;
  }

  load(): ServerLoad {
    const { count: limit, inFlight, speed } = this.#limit;
    const waiting = Math.max(0, this.#chunks - inFlight);
    return { limit, inFlight, waiting, speed, requests: { ...this.#ended } };
  }

  /**
   * Sends until there is an answer. While the server has no room, nothing is sent, no time limit runs, and no try is spent.
   * @throws {RecognizerError} `timed_out`
   * @throws what the last try throws, and what can't be repeated
   * @throws the abort reason of `signal`
   */
  async answer<Answer>(limits: RequestLimits, send: (stop: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const { signal } = limits;
    for (let earlier = 0; ;) {
      try {
        return await this.#inFlight.run(() => this.#send(limits, send), signal);
      } catch (error) {
        signal.throwIfAborted();
        const verdict = judge(error);
        if (verdict === 'no room') {
          this.#waitForRoom(error as Refusal);
        } else {
          if (verdict !== 'passing' || earlier >= this.#options.retries) throw error;
          await pause(pauseMs(error, earlier), signal);
          earlier += 1;
        }
      }
    }
  }

  /** Nothing waits for room any more. */
  close(): void {
    this.#closing.abort();
  }

  async #send<Answer>(
    { audioMs, limitMs, signal }: RequestLimits,
    send: (stop: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    while (this.#room !== undefined) await unlessAborted(this.#room, signal);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limitMs);
    this.#timers.add(timer);
    const sent = this.#limit.sent(performance.now());
    try {
      const answer = await send(AbortSignal.any([signal, late.signal]));
      this.#limit.back(sent, performance.now(), audioMs);
      this.#ended.transcribed += 1;
      this.#refusals = 0;
      this.#giveTimeToLater(timer);
      return answer;
    } catch (error) {
      const isLate = late.signal.aborted;
      if (!signal.aborted) this.#ended[isLate ? 'timed_out' : requestOutcome(error)] += 1;
      if (isLate || judge(error) === 'no room') this.#limit.overloaded(sent, performance.now());
      else this.#limit.back(sent, performance.now(), undefined);
      throw isLate ? new RecognizerError('timed_out', 'the server took too long', { retryable: true }) : error;
    } finally {
      clearTimeout(timer);
      this.#timers.delete(timer);
      this.#inFlight.count = this.#limit.count;
    }
  }

  #giveTimeToLater(answered: NodeJS.Timeout): void {
    let isLater = false;
    for (const timer of this.#timers) {
      if (isLater) timer.refresh();
      isLater ||= timer === answered;
    }
  }

  #waitForRoom(why: Refusal): void {
    this.#room ??= this.#findRoom(why).finally(() => {
      this.#room = undefined;
      this.busy = undefined;
    });
    // Once it is closed, nothing waits.
    this.#room.catch(() => {});
  }

  /** One small request after the other, until one is not refused: nothing that is larger asks before. */
  async #findRoom(why: Refusal): Promise<void> {
    const { signal } = this.#closing;
    const since = performance.now();
    for (let refusal: Refusal | undefined = why; refusal !== undefined;) {
      const waitMs = pauseMs(refusal, this.#refusals);
      this.#refusals += 1;
      if (performance.now() + waitMs > since + shortPauseMs && this.busy === undefined) {
        this.busy = refusal;
        this.#options.onBusy();
      }
      await pause(waitMs, signal);
      refusal = await this.#options.findRoom(signal);
    }
  }
}

function requestOutcome(error: unknown): RequestOutcome {
  const verdict = judge(error);
  if (verdict === 'no room') return 'busy';
  return error instanceof Refusal && verdict !== 'passing' ? 'refused' : 'broken';
}
