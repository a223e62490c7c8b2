/** What the auditor reads from the database: all rules, part by part, checked by PostgreSQL itself. */
import { sql } from 'kysely';
import { inSnapshot } from '../connection/transaction.ts';
import { accountRules } from './account-rules.ts';
import { jobRules } from './job-rules.ts';
import { findMark, keepMark, markNow } from './judged.ts';
import { moneyRules } from './money-rules.ts';
import { byAccount, bySession, walk, whole } from './parts.ts';
import { add, checkRule, unchecked } from './rule.ts';
import { searchRules } from './search-rules.ts';
import { sessionRules } from './session-rules.ts';
import { supportLogRule } from './support-log-rule.ts';
import { transcriptRules } from './transcript-rules.ts';
import { judgeTranscripts, nameOfRules } from './transcripts.ts';
import type { Db, Queryable, Trx } from '../connection/database.ts';
import type { Part, Place } from './parts.ts';
import type { Check } from './rule.ts';

/** How far the look at the sessions has come, for one that goes on there. */
export interface Progress {
  sessions: number;
  upTo: Place;
  checks: Check[];
}

export interface Looking {
  /** Hears what part of the work is done, 0 to 1. */
  onProgress?: (done: number) => void;
  begun?: Progress | undefined;
  keep?: (progress: Progress) => Promise<void>;
  /**
   * Which transcripts it need not judge: those of the mark that an earlier look left, or none. Both leave a mark when they
   * find nothing. Absent: all are judged, and nothing is written.
   */
  marks?: 'used' | 'renewed' | undefined;
  /** At most so many sessions or accounts are looked at in one moment. */
  most?: number;
}

export async function checkRows(
  db: Db,
  queue: string,
  { onProgress = () => {}, begun: interrupted, keep, marks, ...walking }: Looking,
): Promise<Check[]> {
  const rules = [...moneyRules, ...sessionRules, ...searchRules, ...accountRules, supportLogRule, ...jobRules(queue)];
  const checks = new Map([...rules, ...transcriptRules].map((rule) => [rule.id, unchecked(rule)]));
  const look = async (snapshot: Trx, table: string, part: Part) => {
    for (const rule of rules)
      if (rule.cut.table === table) add(checks.get(rule.id)!, await checkRule(snapshot, rule, part));
  };
  // Another version has other rules, and must judge all sessions by them.
  const isByTheseRules = String(interrupted?.checks.map(({ id }) => id)) === String([...checks.keys()]);
  const begun = isByTheseRules ? interrupted : undefined;
  for (const check of begun?.checks ?? []) checks.set(check.id, check);
  const mark = marks && (await markNow(db, nameOfRules(db)));
  const before = mark && marks === 'used' ? await findMark(db, mark) : undefined;
  const all = await countSessions(db);
  let sessions = begun?.sessions ?? 0;
  const lookAtSessions = async (snapshot: Trx, part: Part) => {
    await look(snapshot, bySession.table, part);
    const found = await judgeTranscripts(snapshot, part, before);
    for (const [i, { id }] of transcriptRules.entries()) add(checks.get(id)!, found[i]!);
  };
  const onPart = async (rows: number, upTo: Place | undefined) => {
    sessions += rows;
    onProgress(Math.min(1, sessions / all));
    if (upTo !== undefined) await keep?.({ sessions, upTo, checks: [...checks.values()] });
  };
  await walk(db, bySession, lookAtSessions, { ...walking, begun: begun?.upTo, onPart });
  // What an interrupted look saw may have been another server.
  const isWhole = begun === undefined;
  const areRight = transcriptRules.every(({ id }) => checks.get(id)!.breaches === 0);
  if (mark && isWhole && areRight) await keepMark(db, mark);
  await walk(db, byAccount, (snapshot, part) => look(snapshot, byAccount.table, part), walking);
  await inSnapshot(db, (snapshot) => look(snapshot, whole.table, { after: undefined, upTo: undefined }));
  return [...checks.values()];
}

/** By what a file of progress knows its database. */
export async function nameOfDatabase(db: Queryable): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select current_database() || coalesce((select ' ' || mark from audio_store), '') as name`.execute(db);
  return rows[0]!.name;
}

async function countSessions(db: Queryable): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from sessions`.execute(db);
  return rows[0]!.count;
}
