import type { Db } from '../../db/connection/database.ts';
import type { AudioStore } from '../files/audio-store.ts';
import type { Spool } from '../files/spool.ts';
import type { WorkFolder } from '../files/work-folder.ts';

/** What the auditor looks at. */
export interface Audited {
  db: Db;
  audioStore: AudioStore;
  spool: Spool;
  workFolder: WorkFolder;
  /** How far behind its primary `db` may be, in ms; 0 for a primary. */
  behindMs?: number;
}
