/** The one door to pg-boss: jobs live in the database of the sessions and are sent and completed in its transactions. */
import { PgBoss, fromKysely } from 'pg-boss';
import { randomUUIDv7 } from 'node:crypto';
import type { QueueOptions as RetryOptions } from 'pg-boss';
import { expirySeconds } from './job-expiry.ts';
import { notifyChannel, queueConnection } from './connection.ts';
import { AttemptFailed, maxRunningJobs } from './jobs.ts';
import { Taking } from './taking.ts';
import { hasUnfinishedWork, notifyUnlessAtLimit } from '../../db/queue-tables.ts';
import { heartbeatSeconds, startSupervision } from './supervision.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { WorkerSlots } from './fetch-loop.ts';
import type { JobData, NewJob, QueuedJob } from './jobs.ts';
import type { Supervision } from './supervision.ts';
import type { Log } from '../ops/log.ts';

export const transcriptionQueue = 'transcription';
export const deadLetterQueue = 'transcription-dead-letter';

/** Attempts at a session before it fails. */
export const maxAttempts = 3;

export class Queue {
  readonly #boss: PgBoss;
  readonly #log: Log;
  readonly #disconnect: () => Promise<void>;
  #supervision: Supervision | undefined;
  #taking: Taking | undefined;

  /**
   * @param role a `worker` also takes jobs and looks for dead workers; an `api` and the admin command only send and complete
   */
  constructor(url: string, log: Log, role: 'worker' | 'api') {
    const { options, close } = queueConnection(url, role);
    this.#log = log;
    this.#disconnect = close;
    this.#boss = new PgBoss(options);
    this.#boss.on('error', this.#warn);
    this.#boss.on('warning', (warning) => log.warn({ warning: warning.message }, 'queue warning'));
  }

  /** Only the message: some of these errors hold everything that the database said about a row. */
  readonly #warn = ({ message }: Error) => this.#log.warn({ err: new Error(message) }, 'queue error');

  async start(): Promise<void> {
    await this.#boss.start();
    await this.#keepQueue(
      deadLetterQueue,
      {},
      { notify: true, retryLimit: 100, retryDelay: 5, retryBackoff: true, retryDelayMax: 300 },
    );
    await this.#keepQueue(
      transcriptionQueue,
      { partition: true },
      {
        // `enqueue` tells of those jobs that may run.
        notify: false,
        deadLetter: deadLetterQueue,
        retryLimit: maxAttempts - 1,
        retryDelay: 2,
        retryBackoff: true,
        retryDelayMax: 60,
        heartbeatSeconds,
      },
    );
  }

  /** `createQueue` does not change a queue that exists, so new options need the second call. */
  async #keepQueue(name: string, once: { partition?: true }, options: QueueOptions): Promise<void> {
    await this.#boss.createQueue(name, { ...once, ...options });
    await this.#boss.updateQueue(name, options);
  }

  /** Sends a job within the caller's transaction, which has locked the account. */
  async enqueue(trx: Trx, job: NewJob): Promise<void> {
    const data: JobData = { accountId: job.accountId, sessionId: job.sessionId, queueJobId: job.id };
    await this.#boss.send(transcriptionQueue, data, {
      id: job.id,
      retryLimit: job.attempts - 1,
      priority: -job.startTag,
      ...(job.afterSeconds && { startAfter: job.afterSeconds }),
      expireInSeconds: expirySeconds(job.durationMs),
      group: { id: job.accountId, tier: String(Math.min(job.runningJobs, maxRunningJobs)) },
      db: fromKysely(trx),
    });
    // An account at its limit: the worker that ends one of its jobs looks for the next.
    if (!job.afterSeconds) await notifyUnlessAtLimit(trx, notifyChannel, transcriptionQueue, job);
  }

  /**
   * Completes a running job within the caller's transaction. False when this attempt does not hold the job any more.
   */
  async complete(trx: Trx, job: QueuedJob): Promise<boolean> {
    const response = await this.#boss.complete(transcriptionQueue, job, null, { db: fromKysely(trx) });
    return (response as { affected: number }).affected === 1;
  }

  /**
   * Whether this attempt still holds the job. Until the caller's transaction ends, the queue gives it to no other.
   */
  async holds(trx: Trx, job: QueuedJob): Promise<boolean> {
    const response = await this.#boss.touch(transcriptionQueue, job, { db: fromKysely(trx) });
    return (response as { affected: number }).affected === 1;
  }

  /** Cancels whatever is left of a job within the caller's transaction; a worker that runs it loses its claim. */
  async cancel(trx: Trx, jobId: string): Promise<void> {
    await this.#boss.cancel(transcriptionQueue, jobId, { db: fromKysely(trx) });
  }

  /**
   * Takes jobs, as many at once as there are places and for each account no more than its limit over all workers, until
   * `stopTaking`.
   * What `run` throws fails the attempt; when attempts have run out the job goes to `giveUp`.
   */
  async work(
    places: WorkerSlots,
    run: (job: QueuedJob) => Promise<void>,
    giveUp: (data: JobData) => Promise<void>,
  ): Promise<void> {
    const guarded = (job: QueuedJob) => this.#guarded(run(job));
    this.#taking = new Taking(this.#boss, transcriptionQueue, places, guarded, this.#warn);
    // pg-boss does not notify of a dead letter. Each look, every 5 s while one waits, wakes this worker.
    const seldom = { pollingIntervalSeconds: 300, notifyPollingIntervalSeconds: 300 };
    const deadLetters = await this.#boss.work(deadLetterQueue, seldom, async ([job]: { data: JobData }[]) =>
      this.#guarded(giveUp(job!.data)),
    );
    this.#supervision = startSupervision({
      ask: () => this.#hasUnfinishedWork(),
      look: async () => {
        await this.#boss.supervise();
        this.#boss.notifyWorker(deadLetters);
      },
      onError: this.#warn,
    });
  }

  async #hasUnfinishedWork(): Promise<boolean> {
    const { rows } = await this.#boss.getDb().executeSql(hasUnfinishedWork, [transcriptionQueue, deadLetterQueue]);
    return (rows as { hasWork: boolean }[])[0]!.hasWork;
  }

  /** Logs a fault. The caller goes on without its details. */
  async #guarded(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (error instanceof AttemptFailed) throw error;
      this.#log.error({ err: error }, 'a job ended with a fault; it comes again');
      throw new AttemptFailed('fault');
    }
  }

  /** How many jobs this process runs, and how many it might when it last looked; undefined where it takes none. */
  get use(): { running: number; places: number } | undefined {
    return this.#taking?.use;
  }

  /** Takes no further job until `resume`. Running jobs go on, and dead letters are still taken. */
  pause(): void {
    this.#taking?.pause();
  }

  resume(): void {
    this.#taking?.resume();
  }

  /** Takes no further job from now on; resolves when those that run, or were just being taken, have ended. */
  async stopTaking(): Promise<void> {
    await Promise.all([this.#taking?.stop(), this.#boss.offWork(deadLetterQueue), this.#supervision?.stop()]);
  }

  async stop(): Promise<void> {
    await this.#boss.stop({ graceful: true, timeout: 5_000 });
    await this.#disconnect();
  }
}

type QueueOptions = RetryOptions & { notify: boolean; deadLetter?: string };

export const newJobId = (): string => randomUUIDv7();
