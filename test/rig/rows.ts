/** What the database says about uploads. */
import { sql } from 'kysely';
import type { Db } from '../../db/connection/database.ts';

/** A session of an upload, with what was recorded and charged for it. */
export interface UploadRow {
  title: string;
  id: string;
  status: string;
  duration_ms: number | null;
  attempt: number;
  /** The session of the upload's Idempotency-Key, which is its title here. */
  recorded_id: string | null;
  charges: number[];
}

/** @param begin of the uploads' names */
export async function uploadRows(db: Db, accountId: string, begin = ''): Promise<UploadRow[]> {
  const { rows } = await sql<UploadRow>`
    select s.title, s.id, s.status, s.duration_ms, s.attempt, i.session_id as recorded_id,
      array(select amount_ms::float8 from ledger l where l.account_id = s.account_id and l.session_id = s.id) as charges
    from sessions s left join idempotency i on i.account_id = s.account_id and i.key = s.title
    where s.account_id = ${accountId} and s.title like ${`${begin}%`}`.execute(db);
  return rows;
}
