import { setTimeout as sleep } from 'node:timers/promises';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import { createSlots } from '../in-pieces.ts';
import { RecognizerError } from '../recognizer.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { Refusal, longestTimerMs } from './refusal.ts';
import type { Slots } from '../in-pieces.ts';
import type { RequestOutcome, ServerLoad } from '../../ops/speech-server.ts';

/** What is sent, and how long that may take. */
export interface RequestLimits {
  /** How much audio is in it. */
  audioMs: number;
  /**
   * Counts from when its answer could begin. A server that works on one request at a time begins when it has answered
   * all that were sent before.
   */
  limitMs: number;
  signal: AbortSignal;
}

/** Sends one request when the server has room for it. */
export type InTurn = <Answer>(send: () => Promise<Answer>) => Promise<Answer>;

/** The requests of this process to one server. */
export class Requests {
  readonly #limit: ConcurrencyLimit;
  readonly #inFlight: Slots & { count: number };
  readonly #turns: FairTurns;
  readonly #piecesAtOnce: () => number;
  /** The time limits of those that wait for an answer, in the order in which they came. */
  readonly #timers = new Set<NodeJS.Timeout>();
  /** All pieces that are held. */
  #pieces = 0;
  /** The same, less the first of each recording. */
  #furtherPieces = 0;
  readonly #ended: Record<RequestOutcome, number> = { transcribed: 0, busy: 0, timed_out: 0, refused: 0, broken: 0 };
  #mayAskAt = 0;

  /**
   * @param most at once, however quick the server gets
   * @param isPrepared whether a piece takes time before it can be sent, so that a few have to be ready
   */
  constructor(most: number, isPrepared: boolean) {
    const limit = new ConcurrencyLimit(most);
    this.#limit = limit;
    this.#inFlight = createSlots(limit.count);
    const atOnce = () => limit.count + (isPrepared ? Math.ceil(limit.count / 4) : 0);
    this.#piecesAtOnce = atOnce;
    // An account may have all places while nobody else wants one.
    this.#turns = new FairTurns({
      get atOnce() {
        return atOnce();
      },
      get each() {
        return atOnce();
      },
    });
  }

  /** Room for the pieces of a recording: as many as the server hears at once. @param owner those of others take turns */
  slotsOf(owner: string): Slots {
    const count = this.#piecesAtOnce;
    let held = 0;
    const hold = (by: number) => {
      const further = Math.max(0, held - 1);
      held += by;
      this.#pieces += by;
      this.#furtherPieces += Math.max(0, held - 1) - further;
    };
    return {
      get count() {
        return count();
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
   * How many recordings are held for the server, which needs no core of this machine for them: as many as it hears at
   * once, and a quarter more that are ready when it has room.
   */
  jobsAtOnce(): number {
    const { count } = this.#limit;
    // A long recording has many pieces, and uses the server with them. Others still get in.
    const inUse = Math.min(this.#furtherPieces, count - 1);
    // Before the first answer nobody knows how long one more would wait.
    const oneMore = this.#ended.transcribed > 0 ? 1 : 0;
    return Math.floor(1.25 * count) + oneMore - inUse;
  }

  load(): ServerLoad {
    const { count: limit, inFlight, speed } = this.#limit;
    const waiting = Math.max(0, this.#pieces - inFlight);
    return { limit, inFlight, waiting, speed, requests: { ...this.#ended } };
  }

  /**
   * Waits for an answer, to whose requests `ask` lets the server come by `inTurn`.
   * @throws {RecognizerError} `timed_out`
   * @throws what `ask` throws
   */
  async answer<Answer>(
    { audioMs, limitMs, signal }: RequestLimits,
    ask: (stop: AbortSignal, inTurn: InTurn) => Promise<Answer>,
  ): Promise<Answer> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), limitMs);
    this.#timers.add(timer);
    const stop = AbortSignal.any([signal, deadline.signal]);
    const isLate = () => deadline.signal.aborted && !signal.aborted;
    try {
      const answer = await ask(stop, (send) => this.#inFlight.run(() => this.#send(send, audioMs, stop, isLate), stop));
      this.#giveTimeToLater(timer);
      return answer;
    } catch (error) {
      if (isLate()) throw new RecognizerError('timed_out', 'the server took too long', { retryable: true });
      throw error;
    } finally {
      clearTimeout(timer);
      this.#timers.delete(timer);
    }
  }

  async #send<Answer>(
    send: () => Promise<Answer>,
    audioMs: number,
    stop: AbortSignal,
    isLate: () => boolean,
  ): Promise<Answer> {
    const pauseMs = this.#mayAskAt - performance.now();
    if (pauseMs > 0) await sleep(Math.min(pauseMs, longestTimerMs), undefined, { signal: stop });
    const sent = this.#limit.sent(performance.now());
    try {
      const answer = await send();
      this.#limit.back(sent, performance.now(), audioMs);
      this.#ended.transcribed += 1;
      return answer;
    } catch (error) {
      if (isLate()) this.#ended.timed_out += 1;
      else if (!stop.aborted) this.#ended[outcomeOf(error)] += 1;
      if (isLate() || isOverload(error)) this.#limit.overloaded(sent, performance.now());
      else this.#limit.back(sent, performance.now(), undefined);
      // Whoever is asked to wait, waits with all others.
      if (isOverload(error)) this.#mayAskAt = Math.max(this.#mayAskAt, performance.now() + (error.retryAfterMs ?? 0));
      throw error;
    } finally {
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
}

/** The server has no room now. */
const isOverload = (error: unknown): error is Refusal =>
  error instanceof Refusal && [429, 503].includes(error.status) && !error.isOperators;

function outcomeOf(error: unknown): RequestOutcome {
  if (isOverload(error)) return 'busy';
  return error instanceof Refusal && !error.isPassing ? 'refused' : 'broken';
}
