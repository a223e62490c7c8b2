import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = [
  sql`create table plans (
    plan text primary key,
    eligible boolean not null,
    requests_per_minute int not null check (requests_per_minute >= 0),
    queued_sessions int not null check (queued_sessions >= 0),
    running_jobs int not null check (running_jobs >= 0),
    max_upload_bytes int not null check (max_upload_bytes >= 0),
    max_audio_ms int not null check (max_audio_ms >= 0)
  )`,
  sql`insert into plans values
    ('free',       false,    0,   0,  0,          0,        0),
    ('pro',        true,    60,  10,  2, 1073741824, 14400000),
    ('team',       true,   300,  50,  4, 1073741824, 14400000),
    ('enterprise', true,  1200, 500, 16, 1073741824, 14400000)`,
  sql`create table accounts (
    id uuid primary key,
    name text not null,
    plan text not null references plans,
    suspended_at timestamptz,
    deleted_at timestamptz,
    -- JavaScript's safe integers.
    balance_ms bigint not null default 0 check (balance_ms between -9007199254740991 and 9007199254740991),
    reserved_ms bigint not null default 0 check (reserved_ms between 0 and 9007199254740991),
    requests_per_minute int check (requests_per_minute >= 0),
    queued_sessions int check (queued_sessions >= 0),
    running_jobs int check (running_jobs >= 1),
    max_upload_bytes int check (max_upload_bytes >= 1),
    max_audio_ms int check (max_audio_ms >= 1),
    created_at timestamptz not null default now()
  )`,
  sql`create table api_keys (
    id uuid primary key,
    account_id uuid not null references accounts,
    digest bytea not null unique,
    prefix text not null,
    last_four text not null,
    label text,
    scopes text[] not null check (scopes <@ array['read', 'write'] and cardinality(scopes) > 0),
    expires_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz not null default now()
  )`,
  sql`create index api_keys_of_account on api_keys (account_id, created_at)`,
  sql`create table sessions (
    account_id uuid not null references accounts,
    id uuid not null,
    job_id uuid not null,
    queue_job_id uuid not null,
    status text not null check (status in ('queued', 'processing', 'completed', 'failed')),
    title text not null,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    completed_at timestamptz,
    duration_ms int check (duration_ms >= 0),
    max_audio_ms int not null,
    language text,
    progress smallint check (progress between 0 and 100),
    error_code text,
    reserved_ms bigint not null check (reserved_ms >= 0),
    attempt int not null default 0,
    attempts_left int not null check (attempts_left >= 0),
    last_error_code text,
    transcript_version text,
    audio_deleted_at timestamptz,
    primary key (account_id, id),
    check ((status = 'failed') = (error_code is not null)),
    check ((status = 'completed') = (transcript_version is not null)),
    check ((status in ('completed', 'failed')) = (completed_at is not null)),
    check (reserved_ms = 0 or status in ('queued', 'processing'))
  )`,
  sql`create index sessions_by_time on sessions (account_id, created_at desc, id desc)`,
  sql`create index sessions_by_status on sessions (account_id, status, created_at desc, id desc)`,
  // Support names a session by its id alone.
  sql`create unique index sessions_by_id on sessions (id)`,
  // The sweeps look at unfinished sessions and at audio that waits to be removed, of all accounts: few rows of many.
  sql`create index sessions_unfinished on sessions (created_at) where status in ('queued', 'processing')`,
  sql`create index sessions_with_audio_to_remove on sessions (completed_at)
    where audio_deleted_at is null and status in ('completed', 'failed')`,
  sql`create table transcripts (
    account_id uuid not null,
    session_id uuid not null,
    segments json not null,
    words json not null,
    primary key (account_id, session_id),
    foreign key (account_id, session_id) references sessions on delete cascade
  )`,
  sql`create table ledger (
    account_id uuid not null references accounts,
    id uuid not null,
    kind text not null check (kind in ('credit', 'correction', 'charge')),
    amount_ms bigint not null,
    session_id uuid,
    reason text,
    reference text,
    created_at timestamptz not null default now(),
    primary key (account_id, id),
    check ((kind = 'charge') = (session_id is not null)),
    check (kind <> 'credit' or amount_ms > 0),
    check (kind <> 'charge' or amount_ms < 0)
  )`,
  sql`create unique index ledger_one_charge_per_session on ledger (account_id, session_id) where kind = 'charge'`,
  sql`create unique index ledger_reference on ledger (account_id, reference) where reference is not null`,
  sql`create function refuse_ledger_change() returns trigger language plpgsql as $$
    begin
      -- The one exception: erasing an account takes the words out of its ledger, never an amount.
      if tg_op = 'UPDATE' and new.reason is null and new.reference is null
        and (new.account_id, new.id, new.kind, new.amount_ms, new.created_at)
          = (old.account_id, old.id, old.kind, old.amount_ms, old.created_at)
        and new.session_id is not distinct from old.session_id then
        return new;
      end if;
      raise exception 'the ledger is append-only';
    end $$`,
  sql`create trigger ledger_is_append_only before update or delete on ledger
    for each row execute function refuse_ledger_change()`,
  sql`create trigger ledger_is_never_truncated before truncate on ledger
    for each statement execute function refuse_ledger_change()`,
  sql`create table idempotency (
    account_id uuid not null references accounts,
    key text not null,
    fingerprint bytea not null,
    session_id uuid not null,
    job_id uuid not null,
    created_at timestamptz not null default now(),
    primary key (account_id, key)
  )`,
  sql`create index idempotency_by_time on idempotency (created_at)`,
  // Written by every request and worth nothing after a minute: not in the write-ahead log.
  sql`create unlogged table allowance (
    account_id uuid primary key,
    window_number bigint not null,
    used int not null
  ) with (fillfactor = 50)`,
  // Every process reads this counter twice a second and forgets its cached keys when it moved.
  sql`create table access_changes (version bigint not null)`,
  sql`insert into access_changes values (0)`,
  sql`create function count_access_change() returns trigger language plpgsql as $$
    begin
      update access_changes set version = version + 1;
      return null;
    end $$`,
  sql`create trigger api_keys_change_access after update or delete on api_keys
    for each statement execute function count_access_change()`,
  sql`create trigger plans_change_access after update on plans
    for each statement execute function count_access_change()`,
  sql`create trigger accounts_change_access after update of plan, suspended_at, deleted_at,
      requests_per_minute, queued_sessions, running_jobs, max_upload_bytes, max_audio_ms on accounts
    for each statement execute function count_access_change()`,
];

export const initial: Migration = {
  async up(db: Kysely<unknown>) {
    for (const statement of statements) await statement.execute(db);
  },
};
