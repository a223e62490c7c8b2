/** What `/metrics` shows (Prometheus). Labels are closed sets: no ids, no names. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { showPool, showProcess, showQueue, showReadings } from './readings.ts';
import { showSpeechServer } from './speech-server.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Log } from './log.ts';
import type { Readings } from './readings.ts';
import type { ServerLoad } from './speech-server.ts';

/** Gauges that end in `_total`, which is for counters. `nodejs_active_resources` shows them all by their type. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Counter({
    name: 'transcription_requests_total',
    help: 'HTTP requests by operation and status',
    labelNames: ['operation', 'status'],
    registers: [this.registry],
  });

  readonly requestsInFlight = new Gauge({
    name: 'transcription_requests_in_flight',
    help: 'Requests that are not answered yet, with uploads and those that `wait` holds',
    registers: [this.registry],
  });

  readonly latency = new Histogram({
    name: 'transcription_request_seconds',
    help: 'Seconds from a request, or from the last byte of an upload, to its answer, without requests with `wait`',
    labelNames: ['operation', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [this.registry],
  });

  readonly waits = new Histogram({
    name: 'transcription_wait_seconds',
    help: 'Seconds from a request with `wait` to its answer',
    buckets: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 30],
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

  readonly storeCalls = new Histogram({
    name: 'transcription_store_seconds',
    help: 'Seconds that the audio store took, by what was asked of it',
    labelNames: ['call'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [this.registry],
  });

  readonly storeErrors = new Counter({
    name: 'transcription_store_errors_total',
    help: 'Calls of the audio store that failed: it is away or refuses, or what it has of a session is unreadable',
    labelNames: ['call', 'reason'],
    registers: [this.registry],
  });

  readonly timeInQueue = new Histogram({
    name: 'transcription_queue_seconds',
    help: 'Seconds from the upload of a session to its first attempt',
    buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 14400],
    registers: [this.registry],
  });

  readonly chargedAudio = new Counter({
    name: 'transcription_charged_audio_seconds_total',
    help: 'Seconds of audio that this worker charged to accounts',
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

  readonly readings: Readings = {};

  readonly onStoreCalled = (call: string, seconds: number, reason: string | undefined): void => {
    this.storeCalls.observe({ call }, seconds);
    if (reason !== undefined) this.storeErrors.inc({ call, reason });
  };

  /** Set by a worker with a speech server. */
  speechServer: (() => ServerLoad) | undefined;

  constructor(db: Db, log: Log) {
    // Every 10 ms, as is usual, would take half a percent of a core of a process that has nothing to do.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 100 });
    for (const name of misnamed) this.registry.removeSingleMetric(name);
    // What begins with its first error would be no growth to Prometheus.
    for (const call of ['put', 'fetch']) this.storeErrors.inc({ call, reason: 'away' }, 0);
    showProcess(this.registry, log);
    showReadings(this.registry, this.readings);
    showPool(this.registry, db);
    showQueue(this.registry, db);
    showSpeechServer(this.registry, () => this.speechServer?.());
  }
}
