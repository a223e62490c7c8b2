/** What must hold of a session's row, and of what points to it. */
import { sql } from 'kysely';
import { bySession } from './parts.ts';
import { isFinal, isUnfinished } from './rule.ts';
import type { Rule } from './rule.ts';

export const sessionRules: Rule[] = [
  {
    id: 'completed_has_transcript',
    rule: 'A completed session has a transcript',
    cut: bySession,
    looksAt: sql`sessions where status = 'completed'`,
    broken: sql`select id from sessions s where status = 'completed' and not exists (
      select from transcripts t where t.account_id = s.account_id and t.session_id = s.id)`,
  },
  {
    id: 'transcript_is_of_completed',
    rule: 'A transcript is of a completed session',
    cut: bySession,
    looksAt: sql`transcripts`,
    broken: sql`select session_id as id from transcripts t where not exists (
      select from sessions s where s.account_id = t.account_id and s.id = t.session_id and s.status = 'completed')`,
  },
  {
    id: 'completed_has_result',
    rule: 'A completed session has a duration, and only such a one a version',
    cut: bySession,
    looksAt: sql`sessions`,
    broken: sql`select id from sessions where (status = 'completed') <> (transcript_version is not null)
      or status = 'completed' and duration_ms is null`,
  },
  {
    id: 'decoded_is_measured',
    rule: 'A completed session is as long as was measured, or was shorter twice',
    cut: bySession,
    looksAt: sql`sessions where status = 'completed' and measured_ms is not null`,
    // The tolerance is that of src/audio/whole-audio.ts, which decodes shorter audio twice. What is decoded is charged, so
    // nothing explains audio that is longer than its file.
    broken: sql`select id from sessions where status = 'completed' and (
      not confirmed_short and duration_ms < measured_ms - (measured_ms * 0.01 + 1000)
      or duration_ms > measured_ms + (measured_ms * 0.01 + 1000))`,
  },
  {
    id: 'retention_is_kept',
    rule: 'A session is deleted within an hour of its deleteAt',
    cut: bySession,
    looksAt: sql`sessions where delete_at is not null`,
    broken: sql`select id from sessions where delete_at < now() - interval '1 hour'`,
  },
  {
    id: 'charge_is_told',
    rule: 'A completed session, and no other, says what was charged for it: its duration or nothing',
    cut: bySession,
    looksAt: sql`sessions`,
    // What of both is right, the rules of the ledger say.
    broken: sql`select id from sessions where (status = 'completed') <> (charged_ms is not null)
      or charged_ms <> 0 and charged_ms <> duration_ms`,
  },
  {
    id: 'failed_has_error',
    rule: 'A failed session, and no other, has an error',
    cut: bySession,
    looksAt: sql`sessions`,
    broken: sql`select id from sessions where (status = 'failed') <> (error_code is not null)`,
  },
  {
    id: 'final_has_end',
    rule: 'A completed or failed session, and no other, has an end',
    cut: bySession,
    looksAt: sql`sessions`,
    broken: sql`select id from sessions where ${isFinal} <> (completed_at is not null)`,
  },
  {
    id: 'processing_was_claimed',
    rule: 'A processing session was claimed by an attempt',
    cut: bySession,
    looksAt: sql`sessions where status = 'processing'`,
    broken: sql`select id from sessions where status = 'processing' and (attempt < 1 or started_at is null)`,
  },
  {
    id: 'progress_while_processing',
    rule: 'Only a processing session has progress',
    cut: bySession,
    looksAt: sql`sessions where progress is not null`,
    broken: sql`select id from sessions where progress is not null and status <> 'processing'`,
  },
  {
    id: 'unfinished_audio_is_kept',
    rule: 'The audio of a queued or processing session was not removed',
    cut: bySession,
    looksAt: sql`sessions where ${isUnfinished}`,
    broken: sql`select id from sessions where ${isUnfinished} and audio_deleted_at is not null`,
  },
  {
    id: 'idempotency_names_session',
    rule: 'An idempotency record names a session of its account, and its job',
    cut: bySession,
    looksAt: sql`idempotency`,
    broken: sql`select session_id as id from idempotency i where not exists (
      select from sessions s where s.account_id = i.account_id and s.id = i.session_id and s.job_id = i.job_id)`,
  },
];
