/** What `/metrics` reads on each scrape, and only then. */
import { Counter, Gauge } from 'prom-client';
import { poolUse } from '../../db/connection/database.ts';
import { measureQueue } from '../../db/sessions/sessions.ts';
import { sharedCache } from '../../db/leases.ts';
import { withTimeout } from '../concurrency/with-timeout.ts';
import { lostLines } from './log.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Registry } from 'prom-client';
import type { Db } from '../../db/connection/database.ts';
import type { Log } from './log.ts';

/** Much less than Prometheus waits for all metrics (10 s), or it would take the process for dead. */
const longestMeasuringMs = 4_000;
/** How long one count of the whole queue serves the metrics of all processes, which would each take a quarter of a second. */
export const measures = { name: 'measure the queue', everySeconds: 15 };

const ofHalves = {
  waits: ['transcription_waits_in_flight', 'Requests whose answer `wait` holds'],
  uploads: ['transcription_uploads_in_flight', 'Uploads that are received, measured or stored'],
  slots: ['transcription_worker_slots', 'Jobs that this worker might run at once when it last looked for some'],
  slotsInUse: ['transcription_worker_slots_in_use', 'Jobs that this worker runs'],
} as const;

/** Each role sets its own. A process without that role does not show them. */
export type Readings = { -readonly [Name in keyof typeof ofHalves]?: () => number | undefined };

export function showReadings(registry: Registry, readings: Readings): void {
  for (const [key, [name, help]] of Object.entries(ofHalves)) {
    const read = () => readings[key as keyof Readings]?.();
    show(registry, name, help, async () => read());
  }
}

/** @param read undefined: it is unknown now */
export function show(registry: Registry, name: string, help: string, read: () => Promise<number | undefined>): void {
  new Gauge({
    ...{ name, help, registers: [registry] },
    async collect() {
      const value = await read();
      this.remove();
      if (value !== undefined) this.set(value);
    },
  });
}

export function showProcess(registry: Registry, log: Log): void {
  new Counter({
    name: 'transcription_lost_log_lines_total',
    help: 'Lines of the log that were dropped because nobody read it or its disk was full',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(lostLines(log));
    },
  });
  const name = 'transcription_build_info';
  const help = 'Always 1: the version, and that of Node.js';
  const build = { version: packageJson.version, node: process.versions.node };
  new Gauge({ name, help, labelNames: ['version', 'node'], registers: [registry] }).set(build, 1);
}

/** The pool of connections to the database. The queue has a few of its own. */
export function showPool(registry: Registry, db: Db): void {
  const prefix = 'transcription_database';
  const connections = 'Connections of the pool to the database, by state';
  new Gauge({
    ...{ name: `${prefix}_connections`, help: connections, labelNames: ['state'], registers: [registry] },
    collect() {
      const { inUse, idle } = poolUse(db);
      this.set({ state: 'in_use' }, inUse);
      this.set({ state: 'idle' }, idle);
    },
  });
  const most = 'Connections that the pool opens at most';
  show(registry, `${prefix}_connections_limit`, most, async () => poolUse(db).most);
  const waiting = 'Who waits for a connection of the pool now';
  show(registry, `${prefix}_waiting`, waiting, async () => poolUse(db).waiting);
}

/** These are unknown while the database is away or does not answer. The other metrics are still shown. */
export function showQueue(registry: Registry, db: Db): void {
  // They are read at the same time, and show the same moment.
  let measuring: ReturnType<typeof measureQueue> | undefined;
  const measure = () => {
    measuring ??= sharedCache(db, measures.name, measures.everySeconds, () => measureQueue(db)).finally(
      () => (measuring = undefined),
    );
    return withTimeout(measuring, longestMeasuringMs, undefined).catch(() => undefined);
  };
  const oldest = 'Seconds since the upload of the oldest session that waits';
  const oldestSeconds = async () => (await measure())?.oldestSeconds;
  show(registry, 'transcription_oldest_queued_seconds', oldest, oldestSeconds);
  const bytes = 'Bytes of stored audio, of all sessions that have theirs';
  show(registry, 'transcription_audio_bytes', bytes, async () => (await measure())?.audioBytes);
  new Gauge({
    name: 'transcription_sessions',
    help: 'Unfinished sessions by status',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      const queue = await measure();
      this.reset();
      if (queue === undefined) return;
      this.set({ status: 'queued' }, queue.queued);
      this.set({ status: 'processing' }, queue.processing);
    },
  });
}
