/**
 * Takes jobs with one loop, one listener and one heartbeat for the whole process: woken by a new job, by the end of one of its
 * own, and every two seconds, it fetches as many as it has free places. It also looks for jobs whose worker is gone (missed
 * heartbeats, expiry). Such jobs go back to the queue.
 */
import { createHash } from 'node:crypto';
import { hasActiveJob } from '../../db/queue-tables.ts';
import { maxRunningJobs } from './jobs.ts';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import type { JobData, QueuedJob } from './jobs.ts';

/** A wakeup may be lost, and a retry that becomes due sends none. */
const lookAgainMs = 2_000;
/** A worker that was silent for so long counts as dead. pg-boss allows no less than 10 s. */
export const heartbeatSeconds = 10;
/** Two heartbeats in a row may be lost. */
const beatEveryMs = 2_500;
/** How often the processes look for dead workers. */
export const superviseSeconds = 5;
/** How often they look while no worker holds a job, for the queue's own order. A look takes twenty statements. */
const restSeconds = 60;
/** After a delay of at most this, the heartbeats of living workers are still less than 10 s old. */
const harmlessDelayMs = 3_000;

/** How many jobs may run, while so many do; 0 while none is to be taken. It is asked before each fetch, and never rejects. */
export type WorkerSlots = (running: number) => Promise<number> | number;

/** The channel on which pg-boss notifies of new jobs, by the name of its schema. */
const notifyChannel = `pgboss_${createHash('sha224').update('pgboss').digest('hex').slice(0, 24)}`;
const tiers = Object.fromEntries(Array.from({ length: maxRunningJobs }, (_, i) => [String(i + 1), i + 1]));
/** Each account runs no more jobs than its limit, over all workers. */
const options = { includeMetadata: true, groupConcurrency: { default: 1, tiers } } as const;

type Job = JobWithMetadata<JobData>;

export class JobConsumer {
  readonly #boss: PgBoss;
  readonly #queue: string;
  readonly #slots: WorkerSlots;
  readonly #run: (job: QueuedJob) => Promise<void>;
  readonly #onError: (error: Error) => void;
  /** The jobs that run, how each learns that it was given away, and its end. */
  readonly #held = new Map<Job, { lost: AbortController; ended: Promise<void> }>();
  #slotsNow = 0;
  #isStopping = false;
  #wakeup = Promise.withResolvers<void>();
  #isIdle = false;
  #nextBeat = Promise.withResolvers<void>();
  readonly #listening: Promise<{ close(): Promise<void> } | void> | undefined;
  readonly #taking: Promise<void>;
  readonly #beating: Promise<void>;

  /** @param run what it throws fails the attempt */
  constructor(
    boss: PgBoss,
    queue: string,
    slots: WorkerSlots,
    run: (job: QueuedJob) => Promise<void>,
    onError: (error: Error) => void,
  ) {
    this.#boss = boss;
    this.#queue = queue;
    this.#slots = slots;
    this.#run = run;
    this.#onError = onError;
    const wake = () => this.#wakeup.resolve();
    // Without a listener, or after it was cut off, the loop looks by itself.
    this.#listening = boss.getDb().listen?.(notifyChannel, wake, wake).catch(onError);
    this.#taking = this.#loop();
    this.#beating = this.#keepBeating();
  }

  async #loop(): Promise<void> {
    while (!this.#isStopping) {
      // A wakeup from now on may be about a job that comes after the fetch.
      this.#wakeup = Promise.withResolvers();
      const jobs = await this.#fetch().catch((error: Error): Job[] => {
        this.#onError(error);
        return [];
      });
      for (const job of jobs) this.#begin(job);
      // More may wait behind what was found: an account's limit may have left some of a batch out.
      if (jobs.length > 0) continue;
      await wokenWithin(lookAgainMs, this.#wakeup);
    }
  }

  async #fetch(): Promise<Job[]> {
    this.#slotsNow = await this.#slots(this.#held.size);
    const batchSize = this.#slotsNow - this.#held.size;
    if (this.#isStopping || batchSize <= 0) return [];
    return this.#boss.fetch<JobData>(this.#queue, { ...options, batchSize });
  }

  #begin(job: Job): void {
    const lost = new AbortController();
    const ended = this.#runToItsEnd(job, lost.signal)
      .catch(this.#onError)
      .finally(() => {
        this.#held.delete(job);
        this.#wakeup.resolve();
      });
    this.#held.set(job, { lost, ended });
  }

  /** @throws when the end can't be recorded. The queue then misses the heartbeats */
  async #runToItsEnd(job: Job, signal: AbortSignal): Promise<void> {
    const failure = await this.#run({ ...job, signal }).then(
      () => undefined,
      (error: Error) => error,
    );
    if (failure === undefined) await this.#boss.complete(this.#queue, job);
    else await this.#boss.fail(this.#queue, job, failure);
  }

  /**
   * When the database or this process stood still, or the database could not be reached, every heartbeat looks old
   * afterwards. The next look then waits for 10 s, in which every living worker sends a new heartbeat.
   */
  async #keepBeating(): Promise<void> {
    let steadySince: number | undefined = performance.now();
    let lookedAt = -Infinity;
    let looking: Promise<void> | undefined;
    for (;;) {
      const due = performance.now() + beatEveryMs;
      this.#nextBeat = Promise.withResolvers();
      await wokenWithin(beatEveryMs, this.#nextBeat);
      if (this.#isIdle) return looking;
      try {
        await this.#beat();
        const { rows } = await this.#boss.getDb().executeSql(hasActiveJob, [this.#queue]);
        const [{ hasJob }] = rows as [{ hasJob: boolean }];
        const now = performance.now();
        if (now - due > harmlessDelayMs) steadySince = undefined;
        steadySince ??= now;
        const isDue = now - lookedAt >= (hasJob ? superviseSeconds : restSeconds) * 1_000;
        if (looking !== undefined || !isDue || now - steadySince < heartbeatSeconds * 1_000) continue;
        lookedAt = now;
        // Heartbeats do not wait for it.
        looking = this.#boss.supervise().catch(this.#onError).finally(() => (looking = undefined)); // prettier-ignore
      } catch (error) {
        steadySince = undefined;
        this.#onError(error as Error);
      }
    }
  }

  /**
   * Tells the queue which jobs still run, and learns which of them it has given away.
   * @throws when the statement failed; the jobs may still be ours
   */
  async #beat(): Promise<void> {
    const held = [...this.#held].filter(([, { lost }]) => !lost.signal.aborted);
    if (held.length === 0) return;
    const jobs = held.map(([job]) => job);
    const { settled } = (await this.#boss.touch(this.#queue, jobs)) as { settled?: string[] };
    if (settled === undefined) throw new Error('the queue does not say which jobs it heard of');
    for (const [job, { lost }] of held)
      if (!settled.includes(job.id)) lost.abort(new Error('the queue has given the job away'));
  }

  /** How many jobs run, and how many might when it last looked. */
  get use(): { running: number; places: number } {
    return { running: this.#held.size, places: this.#slotsNow };
  }

  /** Takes no further job from now on; resolves when those that run, or were just being taken, have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wakeup.resolve();
    await this.#taking;
    await Promise.all([...this.#held.values()].map(({ ended }) => ended));
    this.#isIdle = true;
    this.#nextBeat.resolve();
    await this.#beating;
    await (await this.#listening)?.close();
  }
}

/** Resolves at the wakeup, or after so long. */
async function wokenWithin(ms: number, wakeup: PromiseWithResolvers<void>): Promise<void> {
  const timer = setTimeout(() => wakeup.resolve(), ms);
  await wakeup.promise;
  clearTimeout(timer);
}
