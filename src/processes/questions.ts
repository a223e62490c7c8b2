/** What a master asks its children, over the channel that Node.js keeps between them. */
import { inTime } from '../in-time.ts';
import type { Registry } from 'prom-client';
import type { Readiness } from '../readiness.ts';

/** All metrics of a process, as `getMetricsAsJSON` gives them. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What that channel carries, as JSON. */
export type Message = string | object;

/** The questions, and what is answered. */
export interface Answers {
  isAlive: true;
  readiness: Readiness;
  figures: Figures;
}
type Question = keyof Answers;

interface Asked {
  id: number;
  question: Question;
}
interface Answered {
  id: number;
  answer?: unknown;
}

/** Said by a child once, when it does its work. */
export const readyMessage = 'ready';

/**
 * More than the 2 s that a child waits for its database. Less than the 2.5 s of our `haproxy.cfg` and the 3 s of our
 * manifests for Kubernetes: they would not see which process is silent.
 */
const longestAnswerMs = 2_300;

/** The master's end of the channel to one child. */
export class Questions {
  readonly #send: (message: Message) => void;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  #asked = 0;

  constructor(send: (message: Message) => void) {
    this.#send = send;
  }

  /** Undefined when the child does not answer in time, or could not answer. */
  async ask<Q extends Question>(question: Q): Promise<Answers[Q] | undefined> {
    const id = (this.#asked += 1);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, resolve);
    this.#send({ id, question } satisfies Asked);
    const answer = await inTime(promise, longestAnswerMs, undefined);
    this.#waiting.delete(id);
    return answer as Answers[Q] | undefined;
  }

  hear(message: unknown): void {
    const { id, answer } = message as Answered;
    this.#waiting.get(id)?.(answer);
  }

  /** The child is gone: nobody waits for it any longer. */
  close(): void {
    for (const resolve of this.#waiting.values()) resolve(undefined);
  }
}

/** The child's end. What was asked before this is never answered. */
export function answerQuestions(answers: { [Q in Question]: () => Promise<Answers[Q]> }): void {
  process.on('message', ({ id, question }: Asked) => {
    answers[question]().then(
      (answer) => sendToMaster({ id, answer }),
      () => sendToMaster({ id }),
    );
  });
}

/** Nothing when the master is gone. */
export function sendToMaster(message: Message): void {
  process.send?.(message, undefined, undefined, () => {});
}
