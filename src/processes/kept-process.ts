/** A process that is started again whenever it ends, until it is told to stop. */
import { PlainFault } from '../lifetime.ts';
import { forkChild } from './fork.ts';
import { Questions, readyMessage } from './questions.ts';
import type { Worker } from 'node:cluster';
import type { Log } from '../log.ts';
import type { Half } from './child.ts';
import type { Answers, Figures } from './questions.ts';
import type { SummedMetrics } from './summed-metrics.ts';

const shortestPauseMs = 250;
const longestPauseMs = 30_000;
/** After a life as long as this, the next pause is the shortest again. */
const longLifeMs = 60_000;

/** The process as it runs now. */
interface Life {
  child: Worker;
  questions: Questions;
  isReady: boolean;
  /** What it showed last. */
  figures: Figures;
  /** Resolves at its end: whether that was in order. */
  ended: Promise<boolean>;
}

export class KeptProcess {
  readonly half: Half;
  readonly #log: Log;
  readonly #metrics: SummedMetrics;
  readonly #fork: (half: Half) => Worker;
  #life: Life | undefined;
  #hasBeenReady = false;
  #isStopping = false;
  #pauseMs = shortestPauseMs;
  #again: NodeJS.Timeout | undefined;

  constructor(half: Half, log: Log, metrics: SummedMetrics, fork = forkChild) {
    this.half = half;
    this.#log = log;
    this.#metrics = metrics;
    this.#fork = fork;
  }

  get pid(): number | undefined {
    return this.#life?.child.process.pid;
  }

  get isReady(): boolean {
    return this.#life?.isReady === true;
  }

  /** What it showed when it was last looked at. */
  get figures(): Figures {
    return this.#life?.figures ?? [];
  }

  /** Asks for its figures. Of a process that does not answer, those of before stay. */
  async lookAtFigures(): Promise<void> {
    const life = this.#life;
    const figures = await this.ask('figures');
    if (life !== undefined && figures !== undefined) life.figures = figures;
  }

  /** Undefined when it is not ready, or does not answer. What it is asked before it is ready, it never hears. */
  async ask<Question extends keyof Answers>(question: Question): Promise<Answers[Question] | undefined> {
    return this.isReady ? this.#life?.questions.ask(question) : undefined;
  }

  /** Resolves when it is ready. @throws {PlainFault} when it ends before: what never worked is not started again */
  start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#begin(resolve, (why) => reject(new PlainFault(`a process (${this.half}) could not start${why}`)));
    return promise;
  }

  /** @returns whether it stopped in order */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    clearTimeout(this.#again);
    const life = this.#life;
    life?.child.process.kill('SIGTERM');
    return life?.ended ?? true;
  }

  /** What has not stopped in time may stand still. */
  kill(): void {
    this.#life?.child.process.kill('SIGKILL');
  }

  /** @param onEnd hears why no process could be made, as the end of a sentence */
  #begin(onReady = () => {}, onEnd: (why: string) => void = () => {}): void {
    const beganAt = performance.now();
    let child: Worker;
    try {
      child = this.#fork(this.half);
    } catch (err) {
      if (this.#hasBeenReady) this.#beginAgain(beganAt, { err });
      return onEnd(because(err));
    }
    const questions = new Questions((message) => void child.send(message, () => {}));
    const ended = Promise.withResolvers<boolean>();
    const life: Life = { child, questions, isReady: false, figures: [], ended: ended.promise };
    this.#life = life;
    child.on('message', (message) => {
      if (message !== readyMessage) return questions.hear(message);
      life.isReady = true;
      this.#hasBeenReady = true;
      onReady();
    });
    const end = (how: object, isInOrder: boolean, why = '') => {
      this.#life = undefined;
      questions.close();
      this.#metrics.keep(life.figures);
      if (this.#hasBeenReady && !this.#isStopping) this.#beginAgain(beganAt, how);
      ended.resolve(isInOrder);
      onEnd(why);
    };
    child.once('exit', (code: number | null, signal: string | null) => {
      // A process that has not begun yet knows no orderly stop, and needs none.
      end({ childPid: child.process.pid, code, signal }, code === 0 || signal === 'SIGTERM');
    });
    // Other errors are of messages to a process that is gone.
    child.on('error', (err) => child.process.pid === undefined && end({ err }, true, because(err)));
  }

  #beginAgain(beganAt: number, how: object): void {
    if (performance.now() - beganAt >= longLifeMs) this.#pauseMs = shortestPauseMs;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    const what = 'err' in how ? 'could not begin' : 'has ended';
    this.#log.error({ half: this.half, ...how, pauseMs }, `a process ${what} and is started again`);
    this.#metrics.countRestart(this.half);
    this.#again = setTimeout(() => this.#begin(), pauseMs);
  }
}

const because = (err: unknown) => `: ${Error.isError(err) ? err.message : String(err)}`;
