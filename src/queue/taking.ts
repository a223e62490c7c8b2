/**
 * Takes jobs with one loop, one listener and one heartbeat for the whole process: woken by a new job, by the end of one of its
 * own, and every two seconds, it fetches as many as it has free places.
 */
import { createHash } from 'node:crypto';
import { maxRunningJobs } from './jobs.ts';
import { heartbeatRefreshSeconds } from './supervision.ts';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import type { JobData, QueuedJob } from './jobs.ts';

/** A wakeup may be lost, and nobody tells of a retry that is due. */
const lookAgainMs = 2_000;

/** How many jobs may run, while so many do. It is asked before each fetch, and never rejects. */
export type WorkerSlots = (running: number) => Promise<number> | number;

/** Where pg-boss tells of new jobs, by the name of its schema. */
const notifyChannel = `pgboss_${createHash('sha224').update('pgboss').digest('hex').slice(0, 24)}`;
const tiers = Object.fromEntries(Array.from({ length: maxRunningJobs }, (_, i) => [String(i + 1), i + 1]));
/** Each account runs no more jobs than its limit, over all workers. */
const options = { includeMetadata: true, groupConcurrency: { default: 1, tiers } } as const;

type Job = JobWithMetadata<JobData>;

export class Taking {
  readonly #boss: PgBoss;
  readonly #queue: string;
  readonly #slots: WorkerSlots;
  readonly #run: (job: QueuedJob) => Promise<void>;
  readonly #onError: (error: Error) => void;
  /** The jobs that run, how each learns that it was given away, and its end. */
  readonly #held = new Map<Job, { lost: AbortController; ended: Promise<void> }>();
  #slotsNow = 0;
  #isPaused = false;
  #isStopping = false;
  #bell = Promise.withResolvers<void>();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #listening: Promise<{ close(): Promise<void> } | void> | undefined;
  readonly #stopped: Promise<void>;

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
    this.#heartbeat = setInterval(() => void this.#beat().catch(onError), heartbeatRefreshSeconds * 1_000);
    const wake = () => this.#bell.resolve();
    // Without a listener, or after it was cut off, the loop looks by itself.
    this.#listening = boss.getDb().listen?.(notifyChannel, wake, wake).catch(onError);
    this.#stopped = this.#loop();
  }

  async #loop(): Promise<void> {
    while (!this.#isStopping) {
      // What rings from now on may be about a job that comes after the fetch.
      this.#bell = Promise.withResolvers();
      const jobs = await this.#fetch().catch((error: Error): Job[] => {
        this.#onError(error);
        return [];
      });
      for (const job of jobs) this.#begin(job);
      // More may wait behind what was found: an account's limit may have left some of a batch out.
      if (jobs.length > 0) continue;
      const timer = setTimeout(() => this.#bell.resolve(), lookAgainMs);
      await this.#bell.promise;
      clearTimeout(timer);
    }
  }

  async #fetch(): Promise<Job[]> {
    this.#slotsNow = await this.#slots(this.#held.size);
    const batchSize = this.#slotsNow - this.#held.size;
    if (this.#isPaused || this.#isStopping || batchSize <= 0) return [];
    return this.#boss.fetch<JobData>(this.#queue, { ...options, batchSize });
  }

  #begin(job: Job): void {
    const lost = new AbortController();
    const ended = this.#runToItsEnd(job, lost.signal)
      .catch(this.#onError)
      .finally(() => {
        this.#held.delete(job);
        this.#bell.resolve();
      });
    this.#held.set(job, { lost, ended });
  }

  /** @throws when the database does not hear of the end. The queue misses the heartbeats then */
  async #runToItsEnd(job: Job, signal: AbortSignal): Promise<void> {
    const failure = await this.#run({ ...job, signal }).then(
      () => undefined,
      (error: Error) => error,
    );
    if (failure === undefined) await this.#boss.complete(this.#queue, job);
    else await this.#boss.fail(this.#queue, job, failure);
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

  /** Takes no job until `resume`. Running jobs go on, and those that are just being taken still come. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#bell.resolve();
  }

  /** Resolves when all jobs have ended, also those that were just being taken. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#bell.resolve();
    await this.#stopped;
    await Promise.all([...this.#held.values()].map(({ ended }) => ended));
    clearInterval(this.#heartbeat);
    await (await this.#listening)?.close();
  }
}
