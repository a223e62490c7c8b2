/** Takes jobs with one loop, one listener and one heartbeat for the whole process. */
import { FetchLoop } from './fetch-loop.ts';
import { Heartbeats } from './heartbeats.ts';
import { countWorkers, notifyChannel } from './connection.ts';
import { maxRunningJobs } from './jobs.ts';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import type { WorkerSlots } from './fetch-loop.ts';
import type { JobData, QueuedJob } from './jobs.ts';

const tiers = Object.fromEntries(Array.from({ length: maxRunningJobs }, (_, i) => [String(i + 1), i + 1]));
const options = { includeMetadata: true, groupConcurrency: { default: 1, tiers } } as const;

export class Taking {
  readonly #boss: PgBoss;
  readonly #queue: string;
  readonly #run: (job: QueuedJob) => Promise<void>;
  readonly #loop: FetchLoop<JobWithMetadata<JobData>>;
  readonly #heartbeats: Heartbeats;
  readonly #listening: Promise<{ close(): Promise<void> } | void> | undefined;

  /** @param run what it throws fails the attempt */
  constructor(
    boss: PgBoss,
    queue: string,
    places: WorkerSlots,
    run: (job: QueuedJob) => Promise<void>,
    onError: (error: Error) => void,
  ) {
    this.#boss = boss;
    this.#queue = queue;
    this.#run = run;
    this.#heartbeats = new Heartbeats((jobs) => this.#touch(jobs), onError);
    const loop = new FetchLoop<JobWithMetadata<JobData>>(places, {
      take: (batchSize) => boss.fetch<JobData>(queue, { ...options, batchSize }),
      run: (job) => this.#runToItsEnd(job).catch(onError),
      countProcesses: async () => {
        const { rows } = await boss.getDb().executeSql(countWorkers);
        return (rows as { workers: number }[])[0]!.workers;
      },
      onError,
    });
    this.#loop = loop;
    // Without a listener, or after it was cut off, the loop looks by itself.
    const hear = () => loop.hear();
    this.#listening = boss.getDb().listen?.(notifyChannel, hear, hear).catch(onError);
  }

  async #touch(jobs: { id: string; retryCount: number }[]): Promise<readonly string[]> {
    const { settled } = (await this.#boss.touch(this.#queue, jobs)) as { settled?: string[] };
    if (settled === undefined) throw new Error('the queue does not say which jobs it heard of');
    return settled;
  }

  /** @throws when the database does not hear of the end. The queue misses the heartbeats then */
  async #runToItsEnd(job: JobWithMetadata<JobData>): Promise<void> {
    const signal = this.#heartbeats.begin(job);
    try {
      const failure = await this.#run({ ...job, signal }).then(
        () => undefined,
        (error: Error) => error,
      );
      if (failure === undefined) await this.#boss.complete(this.#queue, job);
      else await this.#boss.fail(this.#queue, job, failure);
    } finally {
      this.#heartbeats.end(job);
    }
  }

  get use(): { running: number; places: number } {
    return this.#loop.use;
  }

  /** Takes no job until `resume`. Running jobs go on. */
  pause(): void {
    this.#loop.close();
  }

  resume(): void {
    this.#loop.open();
  }

  /** Resolves when all jobs have ended, also those that were just being taken. */
  async stop(): Promise<void> {
    const ended = this.#loop.stop();
    await Promise.all([ended, this.#listening?.then((listener) => listener?.close())]);
  }
}
