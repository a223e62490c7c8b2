/** The one door to pg-boss: jobs live in the database of the sessions and are sent and completed in its transactions. */
import { PgBoss, fromKysely } from 'pg-boss';
import packageJson from 'pg-boss/package.json' with { type: 'json' };
import { randomUUID } from 'node:crypto';
import { queueConnections } from '../../db/connection/database.ts';
import { workerName } from '../../db/connection/server.ts';
import { AttemptFailed, expirySeconds, maxRunningJobs, transcriptionQueue } from './jobs.ts';
import { JobConsumer, heartbeatSeconds, superviseSeconds } from './job-consumer.ts';
import type { AccountWithLimits } from '../../db/accounts/accounts.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { QueuedSession } from '../../db/sessions/states.ts';
import type { JobData, QueuedJob } from './jobs.ts';
import type { WorkerSlots } from './job-consumer.ts';
import type { Log } from '../ops/log.ts';

/** Of a job. The session's row counts the attempts, and ends the job with the last one. */
const manyRetries = 1_000;

const { pgboss: tables } = packageJson;
/** The number of the queue's tables that this program works with. */
export const queueTablesVersion: number = tables.schema;

export class Queue {
  readonly #boss: PgBoss;
  readonly #log: Log;

  /**
   * @param role a `worker` also takes jobs and looks for dead workers; an `api` and the admin command only send and complete
   */
  constructor(url: string, log: Log, role: 'worker' | 'api') {
    const isWorker = role === 'worker';
    this.#log = log;
    this.#boss = new PgBoss({
      ...queueConnections(!isWorker),
      connectionString: url,
      // Its migrations may take longer than the limits that a role has behind a pooler.
      options: '-c timezone=UTC -c DateStyle=ISO -c statement_timeout=0 -c idle_in_transaction_session_timeout=0',
      application_name: isWorker ? `${workerName} ${randomUUID()}` : 'transcription-queue',
      max: isWorker ? 3 : 2,
      connectionTimeoutMillis: 5_000,
      // `JobConsumer` does that.
      supervise: false,
      // One process looks for all. Its next look is due a little earlier than any process looks again.
      monitorIntervalSeconds: superviseSeconds - 1,
      schedule: false,
    });
    this.#boss.on('error', this.#warn);
    this.#boss.on('warning', (warning) => log.warn({ warning: warning.message }, 'queue warning'));
  }

  /** Only the message: some of these errors hold everything that the database said about a row. */
  readonly #warn = ({ message }: Error) => this.#log.warn({ err: new Error(message) }, 'queue error');

  /** `createQueue` does not change a queue that exists, so new options need the second call. */
  async start(): Promise<void> {
    await this.#boss.start();
    const options = {
      notify: true,
      retryLimit: manyRetries,
      retryDelay: 2,
      retryBackoff: true,
      retryDelayMax: 5,
      heartbeatSeconds,
    };
    await this.#boss.createQueue(transcriptionQueue, { partition: true, ...options });
    await this.#boss.updateQueue(transcriptionQueue, options);
  }

  /**
   * Gives a queued session the job that its row names, in the transaction that puts the session into the queue. Jobs with
   * smaller start tags go first.
   * @param account the owner, locked by the caller
   * @param afterSeconds delay before the job may be fetched
   */
  async enqueue(
    trx: Trx,
    account: Pick<AccountWithLimits, 'id' | 'running_jobs'>,
    session: QueuedSession,
    afterSeconds = 0,
  ): Promise<void> {
    const data: JobData = { accountId: account.id, sessionId: session.id };
    // When the duration is unknown, the job gets as much time as the longest allowed audio needs.
    const durationMs = (session.duration_ms ?? session.max_audio_ms) * session.heard_channels;
    await this.#boss.send(transcriptionQueue, data, {
      id: session.queue_job_id,
      priority: -session.start_tag,
      ...(afterSeconds > 0 && { startAfter: afterSeconds }),
      expireInSeconds: expirySeconds(durationMs),
      group: { id: account.id, tier: String(Math.min(account.running_jobs, maxRunningJobs)) },
      db: fromKysely(trx),
    });
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
   * Takes jobs, as many at once as there are slots and for each account no more than its limit over all workers, until it is
   * stopped. What `run` throws fails the attempt, and the job is retried a few seconds later.
   */
  work(slots: WorkerSlots, run: (job: QueuedJob) => Promise<void>): JobConsumer {
    return new JobConsumer(this.#boss, transcriptionQueue, slots, (job) => this.#guarded(run(job)), this.#warn);
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

  async stop(): Promise<void> {
    await this.#boss.stop({ graceful: true, timeout: 5_000 });
  }
}
