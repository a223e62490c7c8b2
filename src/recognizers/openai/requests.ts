import { createSlots } from '../in-pieces.ts';
import { RecognizerError } from '../recognizer.ts';
import { AtOnce } from './at-once.ts';
import { Pace } from './pace.ts';
import type { Slots } from '../in-pieces.ts';

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

/** The requests of this process to one server. */
export class Requests {
  /** Room for as many as the server hears at once. */
  readonly slots: Slots & { count: number };
  readonly #atOnce: AtOnce;
  #pace: Pace;
  /** The time limits of those that wait for an answer, in the order in which they were sent. */
  readonly #timers = new Set<NodeJS.Timeout>();

  /** @param most at once */
  constructor(most: number) {
    this.slots = createSlots(most);
    this.#atOnce = new AtOnce(most);
    this.#pace = new Pace(most);
  }

  /**
   * Sends a request, and waits for its answer.
   * @throws {RecognizerError} `timed_out`
   * @throws what `send` throws
   */
  async send<Answer>(
    { audioMs, limitMs, signal }: RequestLimits,
    send: (stop: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), limitMs);
    const sentAt = performance.now();
    this.#pace.waited(this.#timers.size);
    this.#timers.add(timer);
    try {
      const answer = await send(AbortSignal.any([signal, deadline.signal]));
      this.#giveTimeToLater(timer);
      this.#pace.answered(sentAt, audioMs);
      return answer;
    } catch (error) {
      if (deadline.signal.aborted && !signal.aborted)
        throw new RecognizerError('timed_out', 'the server took too long', { retryable: true });
      throw error;
    } finally {
      clearTimeout(timer);
      this.#pace.waited(this.#timers.size);
      this.#timers.delete(timer);
      if (this.#pace.isMeasured) this.#adapt();
    }
  }

  #giveTimeToLater(answered: NodeJS.Timeout): void {
    let isLater = false;
    for (const timer of this.#timers) {
      if (isLater) timer.refresh();
      isLater ||= timer === answered;
    }
  }

  #adapt(): void {
    if (this.#pace.speed !== undefined) this.#atOnce.measured(this.#pace.speed);
    this.slots.count = this.#atOnce.count;
    this.#pace = new Pace(this.#atOnce.count);
  }
}
