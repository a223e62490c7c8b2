/** One look at what the service needs. */
import type { Db } from '../../../db/connection/database.ts';
import type { DatabaseInUse } from '../../../src/process/database-url.ts';
import type { Config } from '../../../src/config/config.ts';

/** What is looked at. */
export interface Patient {
  readonly config: Config;
  /** Set by the look at the login; not where there is no database yet. */
  database?: OpenDatabase;
  /** Set by the look at the tables. */
  hasTables?: boolean;
  /** Whatever has to be ended afterwards, the last first. */
  readonly afterwards: (() => Promise<unknown>)[];
}

export interface OpenDatabase {
  db: Db;
  /** The same, past the pooler. */
  direct: Db;
  inUse: DatabaseInUse;
}

export interface Check {
  name: string;
  /** Checks before it that must have gone well. `database`: there must be one, too. */
  needs?: 'database' | 'store';
  /**
   * @returns what was found, without a full stop
   * @throws what is wrong
   */
  look(this: void, patient: Patient): Promise<string>;
  /** What to do when it is wrong. */
  todo: string;
}
