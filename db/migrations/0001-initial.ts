import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

const schema = sql`
  create table plans (
    plan text primary key,
    eligible boolean not null,
    requests_per_minute int not null check (requests_per_minute >= 0),
    queued_sessions int not null check (queued_sessions >= 0),
    running_jobs int not null check (running_jobs >= 0),
    max_upload_bytes int not null check (max_upload_bytes >= 0),
    max_audio_ms int not null check (max_audio_ms >= 0)
  );
  insert into plans values
    ('free',       false,    0,   0,  0,          0,        0),
    ('pro',        true,    60,  10,  2, 1073741824, 14400000),
    ('team',       true,   300,  50,  4, 1073741824, 14400000),
    ('enterprise', true,  1200, 500, 16, 1073741824, 14400000);

  create table accounts (
    id uuid primary key,
    name text not null,
    plan text not null references plans,
    suspended_at timestamptz,
    deleted_at timestamptz,
    -- JavaScript's safe integers.
    balance_ms bigint not null default 0 check (balance_ms between -9007199254740991 and 9007199254740991),
    reserved_ms bigint not null default 0 check (reserved_ms between 0 and 9007199254740991),
    -- In place of the plan's limits.
    requests_per_minute int check (requests_per_minute >= 0),
    queued_sessions int check (queued_sessions >= 0),
    running_jobs int check (running_jobs >= 1),
    max_upload_bytes int check (max_upload_bytes >= 1),
    max_audio_ms int check (max_audio_ms >= 1),
    retention_days int check (retention_days between 1 and 3650),
    created_at timestamptz not null default now()
  );

  create table api_keys (
    id uuid primary key,
    account_id uuid not null references accounts,
    -- SHA-256 of the key. Of the key itself 14 characters are kept.
    digest bytea not null unique check (octet_length(digest) = 32),
    prefix text not null check (length(prefix) <= 10),
    last_four text not null check (length(last_four) <= 4),
    label text,
    scopes text[] not null check (scopes <@ array['read', 'write'] and cardinality(scopes) > 0),
    expires_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz not null default now()
  );
  create index api_keys_of_account on api_keys (account_id, created_at);

  -- Written by every request and worth nothing after a minute: not in the write-ahead log.
  create unlogged table allowance (
    account_id uuid primary key,
    window_number bigint not null,
    used int not null,
    room int not null default 0
  ) with (fillfactor = 50);

  create table sessions (
    account_id uuid not null references accounts,
    id uuid not null,
    job_id uuid not null,
    queue_job_id uuid not null,
    status text not null check (status in ('queued', 'processing', 'completed', 'failed')),
    -- What the upload said.
    title text not null,
    reference text,
    speakers smallint,
    keyterms text[],
    separate_channels boolean not null default false,
    -- How many are heard one by one; 1 for the mix of all.
    heard_channels smallint not null default 1,
    traceparent text,
    -- Asked for by the upload, or else found by the recognizer.
    language text,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    completed_at timestamptz,
    delete_at timestamptz,
    -- Measured at the upload; once completed, decoded.
    duration_ms int check (duration_ms >= 0),
    measured_ms int check (measured_ms >= 0),
    confirmed_short boolean not null default false,
    max_audio_ms int not null,
    audio_bytes bigint,
    audio_deleted_at timestamptz,
    progress smallint check (progress between 0 and 100),
    start_tag int not null default 0,
    attempt int not null default 0,
    attempts_left int not null check (attempts_left >= 0),
    free_attempts int not null default 0,
    last_error_code text,
    error_code text,
    known_languages text,
    warnings json,
    transcript_version text,
    reserved_ms bigint not null check (reserved_ms >= 0),
    charged_ms int check (charged_ms >= 0),
    primary key (account_id, id),
    check ((status = 'failed') = (error_code is not null)),
    check ((status = 'completed') = (transcript_version is not null)),
    check ((status in ('completed', 'failed')) = (completed_at is not null)),
    check (reserved_ms = 0 or status in ('queued', 'processing')),
    check (status <> 'completed' or duration_ms is not null),
    check (status <> 'processing' or (attempt >= 1 and started_at is not null)),
    check (progress is null or status = 'processing'),
    check (audio_deleted_at is null or status in ('completed', 'failed'))
  );
  create index sessions_by_time on sessions (account_id, created_at desc, id desc);
  create index sessions_by_status on sessions (account_id, status, created_at desc, id desc);
  create index sessions_by_reference on sessions (account_id, reference, created_at desc, id desc)
    where reference is not null;
  create index sessions_by_language on sessions
    (account_id, split_part(language, '-', 1), status, created_at desc, id desc) where language is not null;
  -- Support names a session by its id alone.
  create unique index sessions_by_id on sessions (id);
  -- The sweeps look at few rows of many, of all accounts.
  create index sessions_unfinished on sessions (created_at) where status in ('queued', 'processing');
  create index sessions_with_audio_to_remove on sessions (completed_at)
    where audio_deleted_at is null and status in ('completed', 'failed');
  create index sessions_by_delete_at on sessions (delete_at, id) where delete_at is not null;

  create table transcripts (
    account_id uuid not null,
    session_id uuid not null,
    segments json not null,
    words json not null,
    primary key (account_id, session_id),
    foreign key (account_id, session_id) references sessions on delete cascade
  );

  create table idempotency (
    account_id uuid not null references accounts,
    key text not null,
    fingerprint bytea not null,
    session_id uuid not null,
    job_id uuid not null,
    created_at timestamptz not null default now(),
    primary key (account_id, key)
  );
  create index idempotency_by_time on idempotency (created_at);

  create table ledger (
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
  );
  create unique index ledger_one_charge_per_session on ledger (account_id, session_id) where kind = 'charge';
  create unique index ledger_reference on ledger (account_id, reference) where reference is not null;
  create index ledger_by_time on ledger (account_id, created_at, id);
  create function refuse_ledger_change() returns trigger language plpgsql as $$
    begin
      -- The one exception: erasing an account takes the words out of its ledger, never an amount.
      if tg_op = 'UPDATE' and new.reason is null and new.reference is null
        and (new.account_id, new.id, new.kind, new.amount_ms, new.created_at)
          = (old.account_id, old.id, old.kind, old.amount_ms, old.created_at)
        and new.session_id is not distinct from old.session_id then
        return new;
      end if;
      raise exception 'the ledger is append-only';
    end $$;
  create trigger ledger_is_append_only before update or delete on ledger
    for each row execute function refuse_ledger_change();
  create trigger ledger_is_never_truncated before truncate on ledger
    for each statement execute function refuse_ledger_change();

  -- Ids, numbers and words of ours only: nothing in it has to go when an account is erased.
  create table support_log (
    number bigint primary key check (number > 0),
    at timestamptz not null default clock_timestamp(),
    who text not null,
    act text not null,
    account_id uuid,
    details json not null check (details::text !~ 'tsk_[0-9A-Za-z]{7}')
  );
  create index support_log_of_account on support_log (account_id, number) where account_id is not null;
  create function refuse_support_log_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the log of what support did is append-only';
    end $$;
  create trigger support_log_is_append_only before update or delete on support_log
    for each row execute function refuse_support_log_change();
  create trigger support_log_is_never_truncated before truncate on support_log
    for each statement execute function refuse_support_log_change();

  create table passages (
    account_id uuid not null,
    session_id uuid not null,
    number int not null,
    created_at timestamptz not null,
    of_transcript boolean not null,
    first_segment int not null,
    starts smallint[] not null,
    words tsvector not null,
    version smallint not null default 0,
    primary key (account_id, session_id, number),
    foreign key (account_id, session_id) references sessions on delete cascade
  );
  -- What waits in a list to be sorted into the index is read by every search, so it may not become long.
  create index passages_by_word on passages using gin (words) with (gin_pending_list_limit = 256);
  -- Every word carries its account: what is common to all says nothing of one. Without statistics PostgreSQL takes each
  -- for a rare one and asks the index; src/api/reads/search.ts finds out which is common.
  alter table passages alter column words set statistics 0;
  create table search_languages (
    account_id uuid not null references accounts,
    mark text not null,
    primary key (account_id, mark)
  );

  -- What one process does for all, and what it found.
  create table turns (
    name text primary key,
    taken_at timestamptz not null,
    found json,
    found_at timestamptz
  );

  -- Which audio store is this database's: one row, or none before the first start.
  create table audio_store (
    one boolean primary key default true check (one),
    mark uuid not null,
    is_marked boolean not null
  )`;

export const initial: Migration = {
  async up(db: Kysely<unknown>) {
    await schema.execute(db);
  },
};
