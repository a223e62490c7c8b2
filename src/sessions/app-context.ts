import type { Db } from '../../db/connection/database.ts';
import type { Config } from '../config/config.ts';
import type { AudioStore } from '../files/audio-store.ts';
import type { Spool } from '../files/spool.ts';
import type { StorageProbe } from '../files/storage-probe.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Queue } from '../queue/queue.ts';

/** What both roles work with. Made once per process, passed, never imported. */
export interface AppContext {
  config: Config;
  log: Log;
  db: Db;
  queue: Queue;
  audioStore: AudioStore;
  spool: Spool;
  storageProbe: StorageProbe;
  metrics: Metrics;
}
