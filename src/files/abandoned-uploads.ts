/**
 * Removes files of uploads whose process was killed. A process touches the files of its own uploads every 30 s. A file
 * that was not touched for 3 minutes belongs to no process any more. Both times are measured by a clock that never
 * jumps.
 */
import type { Spool } from './spool.ts';
import type { Log } from '../ops/log.ts';

const everyMs = 30_000;
const patienceMs = 3 * 60_000;

/** When a file was first seen with this time of its last change. */
interface Met {
  writtenAt: number;
  /** ms, as of `performance.now()` */
  since: number;
}

export class AbandonedUploads {
  readonly #spool: Spool;
  readonly #log: Log;
  #met = new Map<string, Met>();

  constructor(spool: Spool, log: Log) {
    this.#spool = spool;
    this.#log = log;
  }

  /**
   * Removes files that were first seen 3 minutes ago or longer and were not touched since. One that can't be removed keeps
   * no others.
   *
   * @param now ms, as of `performance.now()`
   */
  async look(now = performance.now()): Promise<void> {
    const notYet = (error: unknown) => this.#log.warn({ err: error }, 'an abandoned upload was not removed yet');
    await this.#spool.touch();
    const left = new Map<string, Met>();
    for await (const { name, writtenAt } of this.#spool.files()) {
      const before = this.#met.get(name);
      const since = before?.writtenAt === writtenAt ? before.since : now;
      if (now - since < patienceMs) left.set(name, { writtenAt, since });
      else await this.#spool.remove(this.#spool.path(name)).catch(notYet);
    }
    this.#met = left;
  }
}

/** Looks at once and then every 30 s. @returns ends it, and resolves when it has ended */
export function keepRemovingAbandonedUploads(spool: Spool, log: Log): () => Promise<void> {
  const abandoned = new AbandonedUploads(spool, log);
  const look = () =>
    abandoned.look().catch((error: unknown) => log.warn({ err: error }, 'abandoned uploads could not be removed yet'));
  let looking = look();
  const timer = setInterval(() => void (looking = looking.then(look)), everyMs).unref();
  return () => {
    clearInterval(timer);
    return looking;
  };
}
