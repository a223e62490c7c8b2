import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** To which trace the upload of a session belongs, so that its worker and its recognizer go on with it. */
export const traces: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column traceparent text`.execute(db);
  },
};
