/** What `/metrics` shows (Prometheus). Labels are closed sets: no ids, no names. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Db } from '../db/database.ts';
import { measureQueue } from '../db/sessions/sessions.ts';
import { foundByOne } from '../db/turns.ts';
import { inTime } from './in-time.ts';
import { lostLines } from './log.ts';
import type { Log } from './log.ts';

/** Much less than Prometheus waits for all metrics (10 s), or it would take the process for dead. */
const longestMeasuringMs = 4_000;
/** How long one count of the whole queue serves the metrics of all processes, which would each take a quarter of a second. */
export const measures = { name: 'measure the queue', everySeconds: 15 };

export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Counter({
    name: 'transcription_requests_total',
    help: 'HTTP requests by operation and status',
    labelNames: ['operation', 'status'],
    registers: [this.registry],
  });

  readonly refusals = new Counter({
    name: 'transcription_refusals_total',
    help: 'Problem answers by code',
    labelNames: ['code'],
    registers: [this.registry],
  });

  readonly delayedAuthFailures = new Counter({
    name: 'transcription_delayed_auth_failures_total',
    help: '401 answers that were delayed because their address failed too often',
    registers: [this.registry],
  });

  readonly refusedConnections = new Counter({
    name: 'transcription_refused_connections_total',
    help: 'Connections that were closed at once because too many were open',
    registers: [this.registry],
  });

  readonly jobs = new Histogram({
    name: 'transcription_job_seconds',
    help: 'Seconds that an attempt at a session took, by outcome',
    labelNames: ['outcome'],
    buckets: [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14400],
    registers: [this.registry],
  });

  readonly realTimeFactor = new Histogram({
    name: 'transcription_real_time_factor',
    help: 'Seconds of recognition per second of audio',
    buckets: [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, 5],
    registers: [this.registry],
  });

  readonly workerWaiting = new Gauge({
    name: 'transcription_worker_waiting',
    help: '1 while the worker takes no jobs until the operator has put something right, by what that is',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  constructor(db: Db, log: Log) {
    // Every 10 ms, as is usual, would take half a percent of a core of a process that has nothing to do.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 100 });
    new Counter({
      name: 'transcription_lost_log_lines_total',
      help: 'Lines of the log that were dropped because nobody read it or its disk was full',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(lostLines(log));
      },
    });
    // These gauges are read at the same time, and show the same moment.
    let measuring: ReturnType<typeof measureQueue> | undefined;
    const measure = () => {
      measuring ??= foundByOne(db, measures.name, measures.everySeconds, () => measureQueue(db)).finally(
        () => (measuring = undefined),
      );
      return inTime(measuring, longestMeasuringMs, undefined).catch(() => undefined);
    };
    // These are unknown while the database is away or does not answer. The other metrics are still shown.
    new Gauge({
      name: 'transcription_oldest_queued_seconds',
      help: 'Seconds since the upload of the oldest session that waits',
      registers: [this.registry],
      async collect() {
        const queue = await measure();
        this.remove();
        if (queue !== undefined) this.set(queue.oldestSeconds);
      },
    });
    new Gauge({
      name: 'transcription_sessions',
      help: 'Unfinished sessions by status',
      labelNames: ['status'],
      registers: [this.registry],
      async collect() {
        const queue = await measure();
        this.reset();
        if (queue === undefined) return;
        this.set({ status: 'queued' }, queue.queued);
        this.set({ status: 'processing' }, queue.processing);
      },
    });
    new Gauge({
      name: 'transcription_audio_bytes',
      help: 'Bytes of stored audio, of all sessions that have theirs',
      registers: [this.registry],
      async collect() {
        const queue = await measure();
        this.remove();
        if (queue !== undefined) this.set(queue.audioBytes);
      },
    });
  }
}
