--
-- PostgreSQL database dump
--


-- Dumped from database version 18.4
-- Dumped by pg_dump version 18.6

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: pgboss; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA pgboss;


--
-- Name: job_state; Type: TYPE; Schema: pgboss; Owner: -
--

CREATE TYPE pgboss.job_state AS ENUM (
    'created',
    'retry',
    'active',
    'completed',
    'cancelled',
    'failed'
);


--
-- Name: create_queue(text, jsonb); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.create_queue(queue_name text, options jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $_$
    DECLARE
      tablename varchar := CASE WHEN options->>'partition' = 'true'
                            THEN 'j' || encode(sha224(queue_name::bytea), 'hex')
                            ELSE 'job_common'
                            END;
      queue_created_on timestamptz;
    BEGIN

      WITH q as (
        INSERT INTO pgboss.queue (
          name,
          policy,
          retry_limit,
          retry_delay,
          retry_backoff,
          retry_delay_max,
          expire_seconds,
          retention_seconds,
          deletion_seconds,
          warning_queued,
          dead_letter,
          partition,
          table_name,
          heartbeat_seconds,
          notify,
          created_on,
          updated_on
        )
        VALUES (
          queue_name,
          options->>'policy',
          COALESCE((options->>'retryLimit')::int, 2),
          COALESCE((options->>'retryDelay')::int, 0),
          COALESCE((options->>'retryBackoff')::bool, false),
          (options->>'retryDelayMax')::int,
          COALESCE((options->>'expireInSeconds')::int, 900),
          COALESCE((options->>'retentionSeconds')::int, 1209600),
          COALESCE((options->>'deleteAfterSeconds')::int, 604800),
          COALESCE((options->>'warningQueueSize')::int, 0),
          options->>'deadLetter',
          COALESCE((options->>'partition')::bool, false),
          tablename,
          (options->>'heartbeatSeconds')::int,
          COALESCE((options->>'notify')::bool, false),
          pgboss.job_now(),
          pgboss.job_now()
        )
        ON CONFLICT DO NOTHING
        RETURNING created_on
      )
      SELECT created_on into queue_created_on from q;

      IF queue_created_on IS NULL OR options->>'partition' IS DISTINCT FROM 'true' THEN
        RETURN;
      END IF;

      EXECUTE format('CREATE TABLE pgboss.%I (LIKE pgboss.job INCLUDING DEFAULTS)', tablename);

      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD PRIMARY KEY (name, id)$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue (name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED$cmd$, tablename);

      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i11 ON pgboss.job (name, priority DESC, created_on, start_after) WHERE state < 'active' AND NOT blocked$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i4 ON pgboss.job (name, singleton_on, COALESCE(singleton_key, '')) WHERE state <> 'cancelled' AND singleton_on IS NOT NULL$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i7 ON pgboss.job (name, group_id) WHERE state = 'active' AND group_id IS NOT NULL$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i9 ON pgboss.job (name, id) WHERE blocking AND state = 'completed'$cmd$, tablename);
      EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i12 ON pgboss.job (source_root_id) WHERE source_root_id IS NOT NULL$cmd$, tablename);

      IF options->>'policy' = 'short' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i1 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state = 'created' AND policy = 'short'$cmd$, tablename);
      ELSIF options->>'policy' = 'singleton' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i2 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state = 'active' AND policy = 'singleton'$cmd$, tablename);
      ELSIF options->>'policy' = 'stately' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i3 ON pgboss.job (name, state, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'stately'$cmd$, tablename);
      ELSIF options->>'policy' = 'exclusive' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i6 ON pgboss.job (name, COALESCE(singleton_key, '')) WHERE state <= 'active' AND policy = 'exclusive'$cmd$, tablename);
      ELSIF options->>'policy' = 'key_strict_fifo' THEN
        EXECUTE pgboss.job_table_format($cmd$CREATE UNIQUE INDEX job_i8 ON pgboss.job (name, singleton_key) WHERE state IN ('active', 'retry', 'failed') AND policy = 'key_strict_fifo'$cmd$, tablename);
        EXECUTE pgboss.job_table_format($cmd$CREATE INDEX job_i10 ON pgboss.job (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE state < 'active' AND NOT blocked AND policy = 'key_strict_fifo'$cmd$, tablename);
        EXECUTE pgboss.job_table_format($cmd$ALTER TABLE pgboss.job ADD CONSTRAINT job_key_strict_fifo_singleton_key_check CHECK (NOT (policy = 'key_strict_fifo' AND singleton_key IS NULL))$cmd$, tablename);
      END IF;

      EXECUTE format('ALTER TABLE pgboss.%I ADD CONSTRAINT cjc CHECK (name=%L)', tablename, queue_name);
      EXECUTE format('ALTER TABLE pgboss.job ATTACH PARTITION pgboss.%I FOR VALUES IN (%L)', tablename, queue_name);
    END;
    $_$;


--
-- Name: delete_queue(text); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.delete_queue(queue_name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      v_table varchar;
      v_partition bool;
    BEGIN
      
      SELECT table_name, partition
      FROM pgboss.queue
      WHERE name = queue_name
      INTO v_table, v_partition;

      IF v_partition THEN
        EXECUTE format('DROP TABLE IF EXISTS pgboss.%I', v_table);
      ELSE
        EXECUTE format('DELETE FROM pgboss.%I WHERE name = %L', v_table, queue_name);
      END IF;
    
      DELETE FROM pgboss.queue WHERE name = queue_name;
    END;
    $$;


--
-- Name: job_now(); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.job_now() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    AS $$
      SELECT pg_catalog.now();
    $$;


--
-- Name: job_table_format(text, text); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.job_table_format(command text, table_name text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $_$
      SELECT format(
        regexp_replace(
          regexp_replace(command, '\.job\y', '.%1$I', 'g'),
          '\yjob_i(\d+)', '%1$s_i\1', 'g'
        ),
        table_name
      );
    $_$;


--
-- Name: job_table_run(text, text, text); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.job_table_run(command text, tbl_name text DEFAULT NULL::text, queue_name text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      tbl RECORD;
    BEGIN
      IF queue_name IS NOT NULL THEN
        SELECT table_name INTO tbl_name FROM pgboss.queue WHERE name = queue_name;
      END IF;

      IF tbl_name IS NOT NULL THEN
        EXECUTE pgboss.job_table_format(command, tbl_name);
        RETURN;
      END IF;

      EXECUTE pgboss.job_table_format(command, 'job_common');

      FOR tbl IN SELECT table_name FROM pgboss.queue WHERE partition = true
      LOOP
        EXECUTE pgboss.job_table_format(command, tbl.table_name);
      END LOOP;
    END;
    $$;


--
-- Name: job_table_run_async(text, integer, text, text, text); Type: FUNCTION; Schema: pgboss; Owner: -
--

CREATE FUNCTION pgboss.job_table_run_async(command_name text, version integer, command text, tbl_name text DEFAULT NULL::text, queue_name text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
      IF queue_name IS NOT NULL THEN
        SELECT table_name INTO tbl_name FROM pgboss.queue WHERE name = queue_name;
      END IF;

      IF tbl_name IS NOT NULL THEN
        INSERT INTO pgboss.bam (name, version, status, queue, table_name, command)
        VALUES (
          command_name,
          version,
          'pending',
          queue_name,
          tbl_name,
          pgboss.job_table_format(command, tbl_name)
        );
        RETURN;
      END IF;

      INSERT INTO pgboss.bam (name, version, status, queue, table_name, command)
      SELECT
        command_name,
        version,
        'pending',
        NULL,
        'job_common',
        pgboss.job_table_format(command, 'job_common')
      UNION ALL
      SELECT
        command_name,
        version,
        'pending',
        queue.name,
        queue.table_name,
        pgboss.job_table_format(command, queue.table_name)
      FROM pgboss.queue
      WHERE partition = true;
    END;
    $$;


--
-- Name: count_access_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.count_access_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      update access_changes set version = version + 1;
      return null;
    end $$;


--
-- Name: refuse_ledger_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_ledger_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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


--
-- Name: refuse_support_log_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_support_log_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      raise exception 'the log of what support did is append-only';
    end $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: bam; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.bam (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    queue text,
    table_name text NOT NULL,
    command text NOT NULL,
    error text,
    created_on timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone
);


--
-- Name: job; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.job (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state NOT NULL,
    retry_limit integer DEFAULT 2 NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    retry_delay integer DEFAULT 0 NOT NULL,
    retry_backoff boolean DEFAULT false NOT NULL,
    retry_delay_max integer,
    expire_seconds integer DEFAULT 900 NOT NULL,
    deletion_seconds integer DEFAULT 604800 NOT NULL,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamp with time zone DEFAULT now() NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '336:00:00'::interval) NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    heartbeat_on timestamp with time zone,
    heartbeat_seconds integer,
    blocked boolean DEFAULT false NOT NULL,
    blocking boolean DEFAULT false NOT NULL,
    pending_dependencies integer DEFAULT 0 NOT NULL,
    source_name text,
    source_id uuid,
    source_created_on timestamp with time zone,
    source_retry_count integer,
    source_output jsonb,
    source_root_id uuid
)
PARTITION BY LIST (name);


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a (
    id uuid DEFAULT gen_random_uuid() CONSTRAINT job_id_not_null NOT NULL,
    name text CONSTRAINT job_name_not_null NOT NULL,
    priority integer DEFAULT 0 CONSTRAINT job_priority_not_null NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state CONSTRAINT job_state_not_null NOT NULL,
    retry_limit integer DEFAULT 2 CONSTRAINT job_retry_limit_not_null NOT NULL,
    retry_count integer DEFAULT 0 CONSTRAINT job_retry_count_not_null NOT NULL,
    retry_delay integer DEFAULT 0 CONSTRAINT job_retry_delay_not_null NOT NULL,
    retry_backoff boolean DEFAULT false CONSTRAINT job_retry_backoff_not_null NOT NULL,
    retry_delay_max integer,
    expire_seconds integer DEFAULT 900 CONSTRAINT job_expire_seconds_not_null NOT NULL,
    deletion_seconds integer DEFAULT 604800 CONSTRAINT job_deletion_seconds_not_null NOT NULL,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamp with time zone DEFAULT now() CONSTRAINT job_start_after_not_null NOT NULL,
    created_on timestamp with time zone DEFAULT now() CONSTRAINT job_created_on_not_null NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '336:00:00'::interval) CONSTRAINT job_keep_until_not_null NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    heartbeat_on timestamp with time zone,
    heartbeat_seconds integer,
    blocked boolean DEFAULT false CONSTRAINT job_blocked_not_null NOT NULL,
    blocking boolean DEFAULT false CONSTRAINT job_blocking_not_null NOT NULL,
    pending_dependencies integer DEFAULT 0 CONSTRAINT job_pending_dependencies_not_null NOT NULL,
    source_name text,
    source_id uuid,
    source_created_on timestamp with time zone,
    source_retry_count integer,
    source_output jsonb,
    source_root_id uuid,
    CONSTRAINT cjc CHECK ((name = 'transcription'::text))
);


--
-- Name: job_common; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.job_common (
    id uuid DEFAULT gen_random_uuid() CONSTRAINT job_id_not_null NOT NULL,
    name text CONSTRAINT job_name_not_null NOT NULL,
    priority integer DEFAULT 0 CONSTRAINT job_priority_not_null NOT NULL,
    data jsonb,
    state pgboss.job_state DEFAULT 'created'::pgboss.job_state CONSTRAINT job_state_not_null NOT NULL,
    retry_limit integer DEFAULT 2 CONSTRAINT job_retry_limit_not_null NOT NULL,
    retry_count integer DEFAULT 0 CONSTRAINT job_retry_count_not_null NOT NULL,
    retry_delay integer DEFAULT 0 CONSTRAINT job_retry_delay_not_null NOT NULL,
    retry_backoff boolean DEFAULT false CONSTRAINT job_retry_backoff_not_null NOT NULL,
    retry_delay_max integer,
    expire_seconds integer DEFAULT 900 CONSTRAINT job_expire_seconds_not_null NOT NULL,
    deletion_seconds integer DEFAULT 604800 CONSTRAINT job_deletion_seconds_not_null NOT NULL,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamp with time zone DEFAULT now() CONSTRAINT job_start_after_not_null NOT NULL,
    created_on timestamp with time zone DEFAULT now() CONSTRAINT job_created_on_not_null NOT NULL,
    started_on timestamp with time zone,
    completed_on timestamp with time zone,
    keep_until timestamp with time zone DEFAULT (now() + '336:00:00'::interval) CONSTRAINT job_keep_until_not_null NOT NULL,
    output jsonb,
    dead_letter text,
    policy text,
    heartbeat_on timestamp with time zone,
    heartbeat_seconds integer,
    blocked boolean DEFAULT false CONSTRAINT job_blocked_not_null NOT NULL,
    blocking boolean DEFAULT false CONSTRAINT job_blocking_not_null NOT NULL,
    pending_dependencies integer DEFAULT 0 CONSTRAINT job_pending_dependencies_not_null NOT NULL,
    source_name text,
    source_id uuid,
    source_created_on timestamp with time zone,
    source_retry_count integer,
    source_output jsonb,
    source_root_id uuid,
    CONSTRAINT job_key_strict_fifo_singleton_key_check CHECK ((NOT ((policy = 'key_strict_fifo'::text) AND (singleton_key IS NULL))))
);


--
-- Name: job_dependency; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.job_dependency (
    child_name text NOT NULL,
    child_id uuid NOT NULL,
    parent_name text NOT NULL,
    parent_id uuid NOT NULL
);


--
-- Name: queue; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.queue (
    name text NOT NULL,
    policy text NOT NULL,
    retry_limit integer NOT NULL,
    retry_delay integer NOT NULL,
    retry_backoff boolean NOT NULL,
    retry_delay_max integer,
    expire_seconds integer NOT NULL,
    retention_seconds integer NOT NULL,
    deletion_seconds integer NOT NULL,
    dead_letter text,
    partition boolean NOT NULL,
    table_name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    warning_queued integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    created_delta integer DEFAULT 0 NOT NULL,
    completed_delta integer DEFAULT 0 NOT NULL,
    failed_delta integer DEFAULT 0 NOT NULL,
    delta_on timestamp with time zone,
    delta_seconds integer,
    ready_history integer[] DEFAULT '{}'::integer[] NOT NULL,
    heartbeat_seconds integer,
    notify boolean DEFAULT false NOT NULL,
    singletons_active text[],
    monitor_claim_on timestamp with time zone,
    monitor_on timestamp with time zone,
    maintain_on timestamp with time zone,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT queue_check CHECK ((dead_letter IS DISTINCT FROM name))
);


--
-- Name: queue_stats; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.queue_stats (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    deferred_count integer DEFAULT 0 NOT NULL,
    queued_count integer DEFAULT 0 NOT NULL,
    ready_count integer DEFAULT 0 NOT NULL,
    active_count integer DEFAULT 0 NOT NULL,
    failed_count integer DEFAULT 0 NOT NULL,
    total_count integer DEFAULT 0 NOT NULL,
    created_delta integer,
    completed_delta integer,
    failed_delta integer,
    delta_seconds integer,
    delta_on timestamp with time zone,
    captured_on timestamp with time zone DEFAULT now() NOT NULL
)
PARTITION BY RANGE (captured_on);


--
-- Name: queue_stats_20261125; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.queue_stats_20261125 (
    id uuid DEFAULT gen_random_uuid() CONSTRAINT queue_stats_id_not_null NOT NULL,
    name text CONSTRAINT queue_stats_name_not_null NOT NULL,
    deferred_count integer DEFAULT 0 CONSTRAINT queue_stats_deferred_count_not_null NOT NULL,
    queued_count integer DEFAULT 0 CONSTRAINT queue_stats_queued_count_not_null NOT NULL,
    ready_count integer DEFAULT 0 CONSTRAINT queue_stats_ready_count_not_null NOT NULL,
    active_count integer DEFAULT 0 CONSTRAINT queue_stats_active_count_not_null NOT NULL,
    failed_count integer DEFAULT 0 CONSTRAINT queue_stats_failed_count_not_null NOT NULL,
    total_count integer DEFAULT 0 CONSTRAINT queue_stats_total_count_not_null NOT NULL,
    created_delta integer,
    completed_delta integer,
    failed_delta integer,
    delta_seconds integer,
    delta_on timestamp with time zone,
    captured_on timestamp with time zone DEFAULT now() CONSTRAINT queue_stats_captured_on_not_null NOT NULL
);


--
-- Name: queue_stats_20261126; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.queue_stats_20261126 (
    id uuid DEFAULT gen_random_uuid() CONSTRAINT queue_stats_id_not_null NOT NULL,
    name text CONSTRAINT queue_stats_name_not_null NOT NULL,
    deferred_count integer DEFAULT 0 CONSTRAINT queue_stats_deferred_count_not_null NOT NULL,
    queued_count integer DEFAULT 0 CONSTRAINT queue_stats_queued_count_not_null NOT NULL,
    ready_count integer DEFAULT 0 CONSTRAINT queue_stats_ready_count_not_null NOT NULL,
    active_count integer DEFAULT 0 CONSTRAINT queue_stats_active_count_not_null NOT NULL,
    failed_count integer DEFAULT 0 CONSTRAINT queue_stats_failed_count_not_null NOT NULL,
    total_count integer DEFAULT 0 CONSTRAINT queue_stats_total_count_not_null NOT NULL,
    created_delta integer,
    completed_delta integer,
    failed_delta integer,
    delta_seconds integer,
    delta_on timestamp with time zone,
    captured_on timestamp with time zone DEFAULT now() CONSTRAINT queue_stats_captured_on_not_null NOT NULL
);


--
-- Name: schedule; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.schedule (
    name text NOT NULL,
    key text DEFAULT ''::text NOT NULL,
    kind text DEFAULT 'cron'::text NOT NULL,
    cron text NOT NULL,
    timezone text DEFAULT 'UTC'::text,
    data jsonb,
    options jsonb,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL,
    last_job_id uuid,
    CONSTRAINT schedule_kind_check CHECK ((kind = ANY (ARRAY['cron'::text, 'rrule'::text])))
);


--
-- Name: subscription; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.subscription (
    event text NOT NULL,
    name text NOT NULL,
    created_on timestamp with time zone DEFAULT now() NOT NULL,
    updated_on timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: version; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.version (
    version integer NOT NULL,
    cron_on timestamp with time zone,
    bam_on timestamp with time zone,
    flow_on timestamp with time zone,
    reindex_on timestamp with time zone,
    monitor_backoff_on timestamp with time zone
);


--
-- Name: warning; Type: TABLE; Schema: pgboss; Owner: -
--

CREATE TABLE pgboss.warning (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    type text NOT NULL,
    message text NOT NULL,
    data jsonb,
    created_on timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: access_changes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.access_changes (
    version bigint NOT NULL
);


--
-- Name: accounts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.accounts (
    id uuid NOT NULL,
    name text NOT NULL,
    plan text NOT NULL,
    suspended_at timestamp with time zone,
    deleted_at timestamp with time zone,
    balance_ms bigint DEFAULT 0 NOT NULL,
    reserved_ms bigint DEFAULT 0 NOT NULL,
    requests_per_minute integer,
    queued_sessions integer,
    running_jobs integer,
    max_upload_bytes integer,
    max_audio_ms integer,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    retention_days integer,
    CONSTRAINT accounts_balance_ms_check CHECK (((balance_ms >= '-9007199254740991'::bigint) AND (balance_ms <= '9007199254740991'::bigint))),
    CONSTRAINT accounts_max_audio_ms_check CHECK ((max_audio_ms >= 1)),
    CONSTRAINT accounts_max_upload_bytes_check CHECK ((max_upload_bytes >= 1)),
    CONSTRAINT accounts_queued_sessions_check CHECK ((queued_sessions >= 0)),
    CONSTRAINT accounts_requests_per_minute_check CHECK ((requests_per_minute >= 0)),
    CONSTRAINT accounts_reserved_ms_check CHECK (((reserved_ms >= 0) AND (reserved_ms <= '9007199254740991'::bigint))),
    CONSTRAINT accounts_retention_days_check CHECK (((retention_days >= 1) AND (retention_days <= 3650))),
    CONSTRAINT accounts_running_jobs_check CHECK ((running_jobs >= 1))
);


--
-- Name: allowance; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.allowance (
    account_id uuid NOT NULL,
    window_number bigint NOT NULL,
    used integer NOT NULL,
    room integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');


--
-- Name: api_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    digest bytea NOT NULL,
    prefix text NOT NULL,
    last_four text NOT NULL,
    label text,
    scopes text[] NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT api_keys_scopes_check CHECK (((scopes <@ ARRAY['read'::text, 'write'::text]) AND (cardinality(scopes) > 0)))
);


--
-- Name: audio_store; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audio_store (
    one boolean DEFAULT true NOT NULL,
    mark uuid NOT NULL,
    is_marked boolean NOT NULL,
    other_mark uuid,
    CONSTRAINT audio_store_one_check CHECK (one)
);


--
-- Name: idempotency; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency (
    account_id uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    session_id uuid NOT NULL,
    job_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: kysely_migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);


--
-- Name: kysely_migration_lock; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);


--
-- Name: ledger; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ledger (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    amount_ms bigint NOT NULL,
    session_id uuid,
    reason text,
    reference text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ledger_check CHECK (((kind = 'charge'::text) = (session_id IS NOT NULL))),
    CONSTRAINT ledger_check1 CHECK (((kind <> 'credit'::text) OR (amount_ms > 0))),
    CONSTRAINT ledger_check2 CHECK (((kind <> 'charge'::text) OR (amount_ms < 0))),
    CONSTRAINT ledger_kind_check CHECK ((kind = ANY (ARRAY['credit'::text, 'correction'::text, 'charge'::text])))
);


--
-- Name: passages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.passages (
    account_id uuid NOT NULL,
    session_id uuid NOT NULL,
    number integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    of_transcript boolean NOT NULL,
    first_segment integer NOT NULL,
    starts smallint[] NOT NULL,
    words tsvector NOT NULL,
    version smallint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.passages ALTER COLUMN words SET STATISTICS 0;


--
-- Name: plans; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.plans (
    plan text NOT NULL,
    eligible boolean NOT NULL,
    requests_per_minute integer NOT NULL,
    queued_sessions integer NOT NULL,
    running_jobs integer NOT NULL,
    max_upload_bytes integer NOT NULL,
    max_audio_ms integer NOT NULL,
    CONSTRAINT plans_max_audio_ms_check CHECK ((max_audio_ms >= 0)),
    CONSTRAINT plans_max_upload_bytes_check CHECK ((max_upload_bytes >= 0)),
    CONSTRAINT plans_queued_sessions_check CHECK ((queued_sessions >= 0)),
    CONSTRAINT plans_requests_per_minute_check CHECK ((requests_per_minute >= 0)),
    CONSTRAINT plans_running_jobs_check CHECK ((running_jobs >= 0))
);


--
-- Name: search_languages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.search_languages (
    account_id uuid NOT NULL,
    mark text NOT NULL
);


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    job_id uuid NOT NULL,
    queue_job_id uuid NOT NULL,
    status text NOT NULL,
    title text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    duration_ms integer,
    max_audio_ms integer NOT NULL,
    language text,
    progress smallint,
    error_code text,
    reserved_ms bigint NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    attempts_left integer NOT NULL,
    last_error_code text,
    transcript_version text,
    audio_deleted_at timestamp with time zone,
    measured_ms integer,
    confirmed_short boolean DEFAULT false NOT NULL,
    reference text,
    charged_ms integer,
    delete_at timestamp with time zone,
    speakers smallint,
    keyterms text[],
    known_languages text,
    separate_channels boolean DEFAULT false NOT NULL,
    traceparent text,
    audio_bytes bigint,
    free_attempts integer DEFAULT 0 NOT NULL,
    warnings json,
    start_tag integer DEFAULT 0 NOT NULL,
    CONSTRAINT sessions_attempts_left_check CHECK ((attempts_left >= 0)),
    CONSTRAINT sessions_charged_ms_check CHECK ((charged_ms >= 0)),
    CONSTRAINT sessions_check CHECK (((status = 'failed'::text) = (error_code IS NOT NULL))),
    CONSTRAINT sessions_check1 CHECK (((status = 'completed'::text) = (transcript_version IS NOT NULL))),
    CONSTRAINT sessions_check2 CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text])) = (completed_at IS NOT NULL))),
    CONSTRAINT sessions_check3 CHECK (((reserved_ms = 0) OR (status = ANY (ARRAY['queued'::text, 'processing'::text])))),
    CONSTRAINT sessions_duration_ms_check CHECK ((duration_ms >= 0)),
    CONSTRAINT sessions_measured_ms_check CHECK ((measured_ms >= 0)),
    CONSTRAINT sessions_progress_check CHECK (((progress >= 0) AND (progress <= 100))),
    CONSTRAINT sessions_reserved_ms_check CHECK ((reserved_ms >= 0)),
    CONSTRAINT sessions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'completed'::text, 'failed'::text])))
);


--
-- Name: support_log; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.support_log (
    number bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    who text NOT NULL,
    act text NOT NULL,
    account_id uuid,
    details json NOT NULL,
    CONSTRAINT support_log_details_check CHECK (((details)::text !~ 'tsk_[0-9A-Za-z]{7}'::text)),
    CONSTRAINT support_log_number_check CHECK ((number > 0))
);


--
-- Name: transcripts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.transcripts (
    account_id uuid NOT NULL,
    session_id uuid NOT NULL,
    segments json NOT NULL,
    words json NOT NULL
);


--
-- Name: turns; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.turns (
    name text NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    found json,
    found_at timestamp with time zone
);


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a; Type: TABLE ATTACH; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job ATTACH PARTITION pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a FOR VALUES IN ('transcription');


--
-- Name: job_common; Type: TABLE ATTACH; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job ATTACH PARTITION pgboss.job_common DEFAULT;


--
-- Name: queue_stats_20261125; Type: TABLE ATTACH; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats ATTACH PARTITION pgboss.queue_stats_20261125 FOR VALUES FROM ('2026-11-25 00:00:00+00') TO ('2026-11-26 00:00:00+00');


--
-- Name: queue_stats_20261126; Type: TABLE ATTACH; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats ATTACH PARTITION pgboss.queue_stats_20261126 FOR VALUES FROM ('2026-11-26 00:00:00+00') TO ('2026-11-27 00:00:00+00');


--
-- Data for Name: bam; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a; Type: TABLE DATA; Schema: pgboss; Owner: -
--

INSERT INTO pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a VALUES ('01a212e3-2c38-7231-b0cc-02311ea3b2c5', 'transcription', 0, '{"accountId": "01a212e3-2806-700e-951a-0d8287302495", "sessionId": "01a212e3-2c32-736a-bedd-1e9ce552a1a7", "queueJobId": "01a212e3-2c38-7231-b0cc-02311ea3b2c5"}', 'cancelled', 2, 0, 2, true, 60, 959, 604800, NULL, NULL, '01a212e3-2806-700e-951a-0d8287302495', '4', '2026-11-25 13:26:47.60558+00', '2026-11-25 13:26:47.60558+00', NULL, '2026-11-25 13:26:47.94042+00', '2026-12-09 13:26:47.60558+00', NULL, 'transcription-dead-letter', 'standard', NULL, 10, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a VALUES ('01a212e3-2e6c-708d-beef-8c5aeb1c8ab7', 'transcription', -18, '{"accountId": "01a212e3-2806-700e-951a-0d8287302495", "sessionId": "01a212e3-2e68-772e-bef4-d29ca5ff67bc", "queueJobId": "01a212e3-2e6c-708d-beef-8c5aeb1c8ab7"}', 'completed', 2, 0, 2, true, 60, 938, 604800, NULL, NULL, '01a212e3-2806-700e-951a-0d8287302495', '4', '2026-11-25 13:26:48.170358+00', '2026-11-25 13:26:48.170358+00', '2026-11-25 13:26:49.560611+00', '2026-11-25 13:26:49.68625+00', '2026-12-09 13:26:48.170358+00', NULL, 'transcription-dead-letter', 'standard', '2026-11-25 13:26:49.594122+00', 10, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a VALUES ('01a212e3-2e07-717a-b6ff-215b07e429dd', 'transcription', 0, '{"accountId": "01a212e3-2806-700e-951a-0d8287302495", "sessionId": "01a212e3-2e04-76da-9e61-48e197043793", "queueJobId": "01a212e3-2e07-717a-b6ff-215b07e429dd"}', 'completed', 2, 0, 2, true, 60, 959, 604800, NULL, NULL, '01a212e3-2806-700e-951a-0d8287302495', '4', '2026-11-25 13:26:48.069373+00', '2026-11-25 13:26:48.069373+00', '2026-11-25 13:26:49.560611+00', '2026-11-25 13:26:49.925302+00', '2026-12-09 13:26:48.069373+00', NULL, 'transcription-dead-letter', 'standard', '2026-11-25 13:26:49.586832+00', 10, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a VALUES ('01a212e3-3689-7bfc-80dc-e498282f4d36', 'transcription', 0, '{"accountId": "01a212e3-2806-700e-951a-0d8287302495", "sessionId": "01a212e3-3685-7cab-81bd-42163294e428", "queueJobId": "01a212e3-3689-7bfc-80dc-e498282f4d36"}', 'active', 2, 0, 2, true, 60, 1029, 604800, NULL, NULL, '01a212e3-2806-700e-951a-0d8287302495', '4', '2026-11-25 13:26:50.247245+00', '2026-11-25 13:26:50.247245+00', '2026-11-25 13:26:50.256561+00', NULL, '2026-12-09 13:26:50.247245+00', NULL, 'transcription-dead-letter', 'standard', '2026-11-25 13:26:50.261093+00', 10, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a VALUES ('01a212e3-3809-79a9-9efb-916027234a2e', 'transcription', -62, '{"accountId": "01a212e3-2806-700e-951a-0d8287302495", "sessionId": "01a212e3-3804-7a67-bfe4-0ddc72df30b5", "queueJobId": "01a212e3-3809-79a9-9efb-916027234a2e"}', 'created', 2, 0, 2, true, 60, 959, 604800, NULL, NULL, '01a212e3-2806-700e-951a-0d8287302495', '4', '2026-11-25 13:26:50.630252+00', '2026-11-25 13:26:50.630252+00', NULL, NULL, '2026-12-09 13:26:50.630252+00', NULL, 'transcription-dead-letter', 'standard', NULL, 10, false, false, 0, NULL, NULL, NULL, NULL, NULL, NULL);


--
-- Data for Name: job_common; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: job_dependency; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: queue; Type: TABLE DATA; Schema: pgboss; Owner: -
--

INSERT INTO pgboss.queue VALUES ('transcription-dead-letter', 'standard', 100, 5, true, 300, 900, 1209600, 604800, NULL, false, 'job_common', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, '{}', NULL, true, NULL, NULL, NULL, NULL, '2026-11-25 13:26:45.944492+00', '2026-11-25 13:26:49.512765+00');
INSERT INTO pgboss.queue VALUES ('transcription', 'standard', 2, 2, true, 60, 900, 1209600, 604800, 'transcription-dead-letter', true, 'j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, '{}', 10, false, NULL, NULL, NULL, NULL, '2026-11-25 13:26:45.948599+00', '2026-11-25 13:26:49.516824+00');


--
-- Data for Name: queue_stats_20261125; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: queue_stats_20261126; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: schedule; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: subscription; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: version; Type: TABLE DATA; Schema: pgboss; Owner: -
--

INSERT INTO pgboss.version VALUES (43, NULL, '2026-11-25 13:26:45.953969+00', NULL, NULL, NULL);


--
-- Data for Name: warning; Type: TABLE DATA; Schema: pgboss; Owner: -
--



--
-- Data for Name: access_changes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.access_changes VALUES (0);


--
-- Data for Name: accounts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.accounts VALUES ('01a212e3-2806-700e-951a-0d8287302495', 'Released Ltd', 'team', NULL, NULL, 3592900, 31830, NULL, NULL, NULL, NULL, NULL, '2026-11-25 13:26:46.534763+00', NULL);


--
-- Data for Name: allowance; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.allowance VALUES ('01a212e3-2806-700e-951a-0d8287302495', 29926886, 19, 282);


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.api_keys VALUES ('01a212e3-296f-7e6a-99a5-426db5c9d4f5', '01a212e3-2806-700e-951a-0d8287302495', '\xfda7a7c0a0c538227aef3f18cdb4c27e4889bf5d5fa8c798f51a984f933cb22e', 'tsk_yhGuy8', 'gmSE', NULL, '{read,write}', NULL, NULL, '2026-11-25 13:26:46.892996+00');


--
-- Data for Name: audio_store; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audio_store VALUES (true, '3a04d40d-00fc-483a-bbe6-375c88bf6815', true, NULL);


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: kysely_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration VALUES ('0001-initial', '2026-11-25T13:26:45.771Z');
INSERT INTO public.kysely_migration VALUES ('0002-measured-duration', '2026-11-25T13:26:45.780Z');
INSERT INTO public.kysely_migration VALUES ('0004-names-and-charges', '2026-11-25T13:26:45.792Z');
INSERT INTO public.kysely_migration VALUES ('0005-search', '2026-11-25T13:26:45.801Z');
INSERT INTO public.kysely_migration VALUES ('0006-retention', '2026-11-25T13:26:45.809Z');
INSERT INTO public.kysely_migration VALUES ('0007-languages-and-hints', '2026-11-25T13:26:45.816Z');
INSERT INTO public.kysely_migration VALUES ('0008-channels', '2026-11-25T13:26:45.821Z');
INSERT INTO public.kysely_migration VALUES ('0010-support-log', '2026-11-25T13:26:45.830Z');
INSERT INTO public.kysely_migration VALUES ('0011-charges-by-time', '2026-11-25T13:26:45.839Z');
INSERT INTO public.kysely_migration VALUES ('0012-traces', '2026-11-25T13:26:45.845Z');
INSERT INTO public.kysely_migration VALUES ('0013-audio-bytes', '2026-11-25T13:26:45.853Z');
INSERT INTO public.kysely_migration VALUES ('0014-free-attempts', '2026-11-25T13:26:45.861Z');
INSERT INTO public.kysely_migration VALUES ('0015-index-version', '2026-11-25T13:26:45.868Z');
INSERT INTO public.kysely_migration VALUES ('0016-warnings', '2026-11-25T13:26:45.874Z');
INSERT INTO public.kysely_migration VALUES ('0017-start-tags', '2026-11-25T13:26:45.880Z');
INSERT INTO public.kysely_migration VALUES ('0018-audio-store', '2026-11-25T13:26:45.887Z');
INSERT INTO public.kysely_migration VALUES ('0019-room', '2026-11-25T13:26:45.897Z');
INSERT INTO public.kysely_migration VALUES ('0020-found-in-turn', '2026-11-25T13:26:45.904Z');
INSERT INTO public.kysely_migration VALUES ('0021-moving-store', '2026-11-25T13:26:45.909Z');


--
-- Data for Name: kysely_migration_lock; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);


--
-- Data for Name: ledger; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.ledger VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2809-7e28-9f9b-60119980711c', 'credit', 3600000, NULL, NULL, NULL, '2026-11-25 13:26:46.534763+00');
INSERT INTO public.ledger VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-3548-753a-ac52-70df3e90ed38', 'charge', -7100, '01a212e3-2e04-76da-9e61-48e197043793', NULL, NULL, '2026-11-25 13:26:49.925302+00');


--
-- Data for Name: passages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.passages VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2c32-736a-bedd-1e9ce552a1a7', 0, '2026-11-25 13:26:47.60558+00', false, 0, '{}', '''1yna--spoken'':1', 0);
INSERT INTO public.passages VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2e68-772e-bef4-d29ca5ff67bc', 0, '2026-11-25 13:26:48.170358+00', true, 0, '{}', '''1yna--silent'':1', 2);
INSERT INTO public.passages VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2e04-76da-9e61-48e197043793', 0, '2026-11-25 13:26:48.069373+00', true, 0, '{3,18}', '''1ynaenand'' ''1ynaenbe'' ''1ynaenconsid'':11 ''1ynaendashwood'':6 ''1ynaendo'' ''1ynaenfor'' ''1ynaenhad'' ''1ynaenhis'' ''1ynaenhow'' ''1ynaenin'' ''1ynaenjohn'':5 ''1ynaenleisur'':9 ''1ynaenmight'':15 ''1ynaenmr'':4 ''1ynaenmuch'':13 ''1ynaenpower'':20 ''1ynaenprudent'':17 ''1ynaenspoken'':1 ''1ynaenthem'' ''1ynaenthen'' ''1ynaenthere'' ''1ynaento''', 2);
INSERT INTO public.passages VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-3685-7cab-81bd-42163294e428', 0, '2026-11-25 13:26:50.247245+00', false, 0, '{}', '''1yna--long'':1', 0);
INSERT INTO public.passages VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-3804-7a67-bfe4-0ddc72df30b5', 0, '2026-11-25 13:26:50.630252+00', false, 0, '{}', '''1yna--spoken'':1', 0);


--
-- Data for Name: plans; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.plans VALUES ('free', false, 0, 0, 0, 0, 0);
INSERT INTO public.plans VALUES ('pro', true, 60, 10, 2, 1073741824, 14400000);
INSERT INTO public.plans VALUES ('team', true, 300, 50, 4, 1073741824, 14400000);
INSERT INTO public.plans VALUES ('enterprise', true, 1200, 500, 16, 1073741824, 14400000);


--
-- Data for Name: search_languages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.search_languages VALUES ('01a212e3-2806-700e-951a-0d8287302495', '--');
INSERT INTO public.search_languages VALUES ('01a212e3-2806-700e-951a-0d8287302495', 'en');


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sessions VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2c32-736a-bedd-1e9ce552a1a7', '01a212e3-2c33-7f62-916c-b201b993d4ff', '01a212e3-2c38-7231-b0cc-02311ea3b2c5', 'failed', 'spoken', '2026-11-25 13:26:47.60558+00', NULL, '2026-11-25 13:26:47.94042+00', 7100, 14400000, NULL, NULL, 'canceled', 0, 0, 3, NULL, NULL, NULL, 7100, false, NULL, NULL, NULL, NULL, NULL, NULL, false, '00-9fb566d56f0d4ef15793c440cd66cc07-b54ff3730f0c4c46-00', 14802, 0, NULL, 0);
INSERT INTO public.sessions VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2e68-772e-bef4-d29ca5ff67bc', '01a212e3-2e68-7b50-9a5b-746ad363e17b', '01a212e3-2e6c-708d-beef-8c5aeb1c8ab7', 'completed', 'silent', '2026-11-25 13:26:48.170358+00', '2026-11-25 13:26:49.594122+00', '2026-11-25 13:26:49.68625+00', 2000, 14400000, NULL, NULL, NULL, 0, 1, 2, NULL, 'jwOWJ4thmXn2s-lqMWCpGD', '2026-11-25 13:26:49.707917+00', 2000, false, NULL, 0, NULL, NULL, NULL, NULL, false, '00-398c675281ea757393585ea8d499d3d6-efef303b30c28bb8-00', 1128, 0, NULL, 18);
INSERT INTO public.sessions VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2e04-76da-9e61-48e197043793', '01a212e3-2e04-7ec2-a4cf-f1bed82b8407', '01a212e3-2e07-717a-b6ff-215b07e429dd', 'completed', 'spoken', '2026-11-25 13:26:48.069373+00', '2026-11-25 13:26:49.586832+00', '2026-11-25 13:26:49.925302+00', 7100, 14400000, 'en', NULL, NULL, 0, 1, 2, NULL, 'XgFVSX2MQXcyNG-3NEBNuJ', '2026-11-25 13:26:49.939998+00', 7100, false, NULL, 7100, NULL, NULL, NULL, NULL, false, '00-1f300e17c037e6ec73d7202d6d70f0ce-733871efe0c9fe5e-00', 14802, 0, NULL, 0);
INSERT INTO public.sessions VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-3685-7cab-81bd-42163294e428', '01a212e3-3685-727b-8cdf-1ff89909cf06', '01a212e3-3689-7bfc-80dc-e498282f4d36', 'processing', 'long', '2026-11-25 13:26:50.247245+00', '2026-11-25 13:26:50.261093+00', NULL, 24730, 14400000, NULL, NULL, NULL, 24730, 1, 2, NULL, NULL, NULL, 24730, false, NULL, NULL, NULL, NULL, NULL, NULL, false, '00-98dcd8eb536d8ddade918f4d8f9f3445-09d55f4903ea6511-00', 51040, 0, NULL, 0);
INSERT INTO public.sessions VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-3804-7a67-bfe4-0ddc72df30b5', '01a212e3-3804-716a-bf3e-8416a0fc1ed1', '01a212e3-3809-79a9-9efb-916027234a2e', 'queued', 'spoken', '2026-11-25 13:26:50.630252+00', NULL, NULL, 7100, 14400000, NULL, NULL, NULL, 7100, 0, 3, NULL, NULL, NULL, 7100, false, NULL, NULL, NULL, NULL, NULL, NULL, false, '00-bab30730b26354264ab836bb02742a85-fe26ff3458c39d9b-00', 14802, 0, NULL, 62);


--
-- Data for Name: support_log; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.support_log VALUES (1, '2026-11-25 13:26:46.542057+00', 'root', 'accounts create', '01a212e3-2806-700e-951a-0d8287302495', '{"plan":"team","balanceMs":3600000}');
INSERT INTO public.support_log VALUES (2, '2026-11-25 13:26:46.899819+00', 'root', 'keys issue', '01a212e3-2806-700e-951a-0d8287302495', '{"keyId":"01a212e3-296f-7e6a-99a5-426db5c9d4f5","scopes":["read","write"]}');
INSERT INTO public.support_log VALUES (3, '2026-11-25 13:26:47.951185+00', 'root', 'sessions cancel', '01a212e3-2806-700e-951a-0d8287302495', '{"sessionId":"01a212e3-2c32-736a-bedd-1e9ce552a1a7"}');
INSERT INTO public.support_log VALUES (4, '2026-11-25 13:26:51.447349+00', 'root', 'database run', NULL, '{}');


--
-- Data for Name: transcripts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.transcripts VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2e68-772e-bef4-d29ca5ff67bc', '[]', '[]');
INSERT INTO public.transcripts VALUES ('01a212e3-2806-700e-951a-0d8287302495', '01a212e3-2e04-76da-9e61-48e197043793', '[{"index":0,"startMs":244,"endMs":5263,"text":"And Mr. John Dashwood had then leisure to consider how much there might be prudently"},{"index":1,"startMs":5263,"endMs":6790,"text":"in his power to do for them."}]', '[[],[]]');


--
-- Data for Name: turns; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turns VALUES ('sweep', '2026-11-25 13:26:49.558589+00', NULL, NULL);
INSERT INTO public.turns VALUES ('retention', '2026-11-25 13:26:49.577563+00', NULL, NULL);
INSERT INTO public.turns VALUES ('list audio', '2026-11-25 13:26:49.57867+00', NULL, NULL);
INSERT INTO public.turns VALUES ('index 2', '2026-11-25 13:26:49.580416+00', NULL, NULL);
INSERT INTO public.turns VALUES ('index 2 looked through', '2026-11-25 13:26:49.586527+00', NULL, NULL);


--
-- Name: bam bam_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.bam
    ADD CONSTRAINT bam_pkey PRIMARY KEY (id);


--
-- Name: job job_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (name, id);


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a
    ADD CONSTRAINT j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_pkey PRIMARY KEY (name, id);


--
-- Name: job_common job_common_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job_common
    ADD CONSTRAINT job_common_pkey PRIMARY KEY (name, id);


--
-- Name: job_dependency job_dependency_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job_dependency
    ADD CONSTRAINT job_dependency_pkey PRIMARY KEY (child_name, child_id, parent_name, parent_id);


--
-- Name: queue queue_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);


--
-- Name: queue_stats queue_stats_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats
    ADD CONSTRAINT queue_stats_pkey PRIMARY KEY (id, captured_on);


--
-- Name: queue_stats_20261125 queue_stats_20261125_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats_20261125
    ADD CONSTRAINT queue_stats_20261125_pkey PRIMARY KEY (id, captured_on);


--
-- Name: queue_stats_20261126 queue_stats_20261126_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue_stats_20261126
    ADD CONSTRAINT queue_stats_20261126_pkey PRIMARY KEY (id, captured_on);


--
-- Name: schedule schedule_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name, key);


--
-- Name: subscription subscription_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (event, name);


--
-- Name: version version_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (version);


--
-- Name: warning warning_pkey; Type: CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.warning
    ADD CONSTRAINT warning_pkey PRIMARY KEY (id);


--
-- Name: accounts accounts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);


--
-- Name: allowance allowance_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.allowance
    ADD CONSTRAINT allowance_pkey PRIMARY KEY (account_id);


--
-- Name: api_keys api_keys_digest_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_digest_key UNIQUE (digest);


--
-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);


--
-- Name: audio_store audio_store_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audio_store
    ADD CONSTRAINT audio_store_pkey PRIMARY KEY (one);


--
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (account_id, key);


--
-- Name: kysely_migration_lock kysely_migration_lock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);


--
-- Name: kysely_migration kysely_migration_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);


--
-- Name: ledger ledger_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (account_id, id);


--
-- Name: passages passages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.passages
    ADD CONSTRAINT passages_pkey PRIMARY KEY (account_id, session_id, number);


--
-- Name: plans plans_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (plan);


--
-- Name: search_languages search_languages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_languages
    ADD CONSTRAINT search_languages_pkey PRIMARY KEY (account_id, mark);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (account_id, id);


--
-- Name: support_log support_log_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.support_log
    ADD CONSTRAINT support_log_pkey PRIMARY KEY (number);


--
-- Name: transcripts transcripts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.transcripts
    ADD CONSTRAINT transcripts_pkey PRIMARY KEY (account_id, session_id);


--
-- Name: turns turns_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (name);


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i11; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i11 ON pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a USING btree (name, priority DESC, created_on, start_after) WHERE ((state < 'active'::pgboss.job_state) AND (NOT blocked));


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i12; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i12 ON pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a USING btree (source_root_id) WHERE (source_root_id IS NOT NULL);


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i4; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i4 ON pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::pgboss.job_state) AND (singleton_on IS NOT NULL));


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i7; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i7 ON pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a USING btree (name, group_id) WHERE ((state = 'active'::pgboss.job_state) AND (group_id IS NOT NULL));


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i9; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_i9 ON pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a USING btree (name, id) WHERE (blocking AND (state = 'completed'::pgboss.job_state));


--
-- Name: job_common_i1; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i1 ON pgboss.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'created'::pgboss.job_state) AND (policy = 'short'::text));


--
-- Name: job_common_i10; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i10 ON pgboss.job_common USING btree (name, singleton_key, state DESC, created_on, id) INCLUDE (start_after) WHERE ((state < 'active'::pgboss.job_state) AND (NOT blocked) AND (policy = 'key_strict_fifo'::text));


--
-- Name: job_common_i11; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i11 ON pgboss.job_common USING btree (name, priority DESC, created_on, start_after) WHERE ((state < 'active'::pgboss.job_state) AND (NOT blocked));


--
-- Name: job_common_i12; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i12 ON pgboss.job_common USING btree (source_root_id) WHERE (source_root_id IS NOT NULL);


--
-- Name: job_common_i2; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i2 ON pgboss.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state = 'active'::pgboss.job_state) AND (policy = 'singleton'::text));


--
-- Name: job_common_i3; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i3 ON pgboss.job_common USING btree (name, state, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::pgboss.job_state) AND (policy = 'stately'::text));


--
-- Name: job_common_i4; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i4 ON pgboss.job_common USING btree (name, singleton_on, COALESCE(singleton_key, ''::text)) WHERE ((state <> 'cancelled'::pgboss.job_state) AND (singleton_on IS NOT NULL));


--
-- Name: job_common_i6; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i6 ON pgboss.job_common USING btree (name, COALESCE(singleton_key, ''::text)) WHERE ((state <= 'active'::pgboss.job_state) AND (policy = 'exclusive'::text));


--
-- Name: job_common_i7; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i7 ON pgboss.job_common USING btree (name, group_id) WHERE ((state = 'active'::pgboss.job_state) AND (group_id IS NOT NULL));


--
-- Name: job_common_i8; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE UNIQUE INDEX job_common_i8 ON pgboss.job_common USING btree (name, singleton_key) WHERE ((state = ANY (ARRAY['active'::pgboss.job_state, 'retry'::pgboss.job_state, 'failed'::pgboss.job_state])) AND (policy = 'key_strict_fifo'::text));


--
-- Name: job_common_i9; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_common_i9 ON pgboss.job_common USING btree (name, id) WHERE (blocking AND (state = 'completed'::pgboss.job_state));


--
-- Name: job_dep_parent_idx; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX job_dep_parent_idx ON pgboss.job_dependency USING btree (parent_name, parent_id);


--
-- Name: queue_stats_i1; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX queue_stats_i1 ON ONLY pgboss.queue_stats USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);


--
-- Name: queue_stats_20261125_name_captured_on_deferred_count_queued_idx; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX queue_stats_20261125_name_captured_on_deferred_count_queued_idx ON pgboss.queue_stats_20261125 USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);


--
-- Name: queue_stats_20261126_name_captured_on_deferred_count_queued_idx; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX queue_stats_20261126_name_captured_on_deferred_count_queued_idx ON pgboss.queue_stats_20261126 USING btree (name, captured_on DESC) INCLUDE (deferred_count, queued_count, ready_count, active_count, failed_count, total_count);


--
-- Name: warning_i1; Type: INDEX; Schema: pgboss; Owner: -
--

CREATE INDEX warning_i1 ON pgboss.warning USING btree (created_on DESC);


--
-- Name: api_keys_of_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_keys_of_account ON public.api_keys USING btree (account_id, created_at);


--
-- Name: idempotency_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_by_time ON public.idempotency USING btree (created_at);


--
-- Name: ledger_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ledger_by_time ON public.ledger USING btree (account_id, created_at, id);


--
-- Name: ledger_one_charge_per_session; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX ledger_one_charge_per_session ON public.ledger USING btree (account_id, session_id) WHERE (kind = 'charge'::text);


--
-- Name: ledger_reference; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX ledger_reference ON public.ledger USING btree (account_id, reference) WHERE (reference IS NOT NULL);


--
-- Name: passages_by_word; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX passages_by_word ON public.passages USING gin (words) WITH (gin_pending_list_limit='256');


--
-- Name: sessions_by_delete_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_by_delete_at ON public.sessions USING btree (delete_at, id) WHERE (delete_at IS NOT NULL);


--
-- Name: sessions_by_id; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX sessions_by_id ON public.sessions USING btree (id);


--
-- Name: sessions_by_language; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_by_language ON public.sessions USING btree (account_id, split_part(language, '-'::text, 1), status, created_at DESC, id DESC) WHERE (language IS NOT NULL);


--
-- Name: sessions_by_reference; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_by_reference ON public.sessions USING btree (account_id, reference, created_at DESC, id DESC) WHERE (reference IS NOT NULL);


--
-- Name: sessions_by_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_by_status ON public.sessions USING btree (account_id, status, created_at DESC, id DESC);


--
-- Name: sessions_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_by_time ON public.sessions USING btree (account_id, created_at DESC, id DESC);


--
-- Name: sessions_unfinished; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_unfinished ON public.sessions USING btree (created_at) WHERE (status = ANY (ARRAY['queued'::text, 'processing'::text]));


--
-- Name: sessions_with_audio_to_remove; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_with_audio_to_remove ON public.sessions USING btree (completed_at) WHERE ((audio_deleted_at IS NULL) AND (status = ANY (ARRAY['completed'::text, 'failed'::text])));


--
-- Name: support_log_of_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX support_log_of_account ON public.support_log USING btree (account_id, number) WHERE (account_id IS NOT NULL);


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_pkey; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.job_pkey ATTACH PARTITION pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a_pkey;


--
-- Name: job_common_pkey; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.job_pkey ATTACH PARTITION pgboss.job_common_pkey;


--
-- Name: queue_stats_20261125_name_captured_on_deferred_count_queued_idx; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.queue_stats_i1 ATTACH PARTITION pgboss.queue_stats_20261125_name_captured_on_deferred_count_queued_idx;


--
-- Name: queue_stats_20261125_pkey; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.queue_stats_pkey ATTACH PARTITION pgboss.queue_stats_20261125_pkey;


--
-- Name: queue_stats_20261126_name_captured_on_deferred_count_queued_idx; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.queue_stats_i1 ATTACH PARTITION pgboss.queue_stats_20261126_name_captured_on_deferred_count_queued_idx;


--
-- Name: queue_stats_20261126_pkey; Type: INDEX ATTACH; Schema: pgboss; Owner: -
--

ALTER INDEX pgboss.queue_stats_pkey ATTACH PARTITION pgboss.queue_stats_20261126_pkey;


--
-- Name: accounts accounts_change_access; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER accounts_change_access AFTER UPDATE OF plan, suspended_at, deleted_at, requests_per_minute, queued_sessions, running_jobs, max_upload_bytes, max_audio_ms ON public.accounts FOR EACH STATEMENT EXECUTE FUNCTION public.count_access_change();


--
-- Name: api_keys api_keys_change_access; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER api_keys_change_access AFTER DELETE OR UPDATE ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.count_access_change();


--
-- Name: ledger ledger_is_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER ledger_is_append_only BEFORE DELETE OR UPDATE ON public.ledger FOR EACH ROW EXECUTE FUNCTION public.refuse_ledger_change();


--
-- Name: ledger ledger_is_never_truncated; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER ledger_is_never_truncated BEFORE TRUNCATE ON public.ledger FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_ledger_change();


--
-- Name: plans plans_change_access; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER plans_change_access AFTER UPDATE ON public.plans FOR EACH STATEMENT EXECUTE FUNCTION public.count_access_change();


--
-- Name: support_log support_log_is_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER support_log_is_append_only BEFORE DELETE OR UPDATE ON public.support_log FOR EACH ROW EXECUTE FUNCTION public.refuse_support_log_change();


--
-- Name: support_log support_log_is_never_truncated; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER support_log_is_never_truncated BEFORE TRUNCATE ON public.support_log FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_support_log_change();


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a dlq_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a
    ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;


--
-- Name: job_common dlq_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job_common
    ADD CONSTRAINT dlq_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;


--
-- Name: j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a q_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.j35be45bbfa229a4689edc649e6457acb52e9e6d0260e9707a33e731a
    ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;


--
-- Name: job_common q_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.job_common
    ADD CONSTRAINT q_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;


--
-- Name: queue queue_dead_letter_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.queue
    ADD CONSTRAINT queue_dead_letter_fkey FOREIGN KEY (dead_letter) REFERENCES pgboss.queue(name);


--
-- Name: schedule schedule_name_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.schedule
    ADD CONSTRAINT schedule_name_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE CASCADE;


--
-- Name: subscription subscription_name_fkey; Type: FK CONSTRAINT; Schema: pgboss; Owner: -
--

ALTER TABLE ONLY pgboss.subscription
    ADD CONSTRAINT subscription_name_fkey FOREIGN KEY (name) REFERENCES pgboss.queue(name) ON DELETE CASCADE;


--
-- Name: accounts accounts_plan_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_plan_fkey FOREIGN KEY (plan) REFERENCES public.plans(plan);


--
-- Name: api_keys api_keys_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: idempotency idempotency_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: ledger ledger_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ledger
    ADD CONSTRAINT ledger_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: passages passages_account_id_session_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.passages
    ADD CONSTRAINT passages_account_id_session_id_fkey FOREIGN KEY (account_id, session_id) REFERENCES public.sessions(account_id, id) ON DELETE CASCADE;


--
-- Name: search_languages search_languages_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_languages
    ADD CONSTRAINT search_languages_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: sessions sessions_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: transcripts transcripts_account_id_session_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.transcripts
    ADD CONSTRAINT transcripts_account_id_session_id_fkey FOREIGN KEY (account_id, session_id) REFERENCES public.sessions(account_id, id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


