-- The places a job can stand in, and what moves it from one to the next. docs/schema.md explains each table.
-- @schema@ is replaced by the quoted name of the schema, @schema_text@ by the same as a text literal.

create type @schema@.job_state as enum
    ('pending', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'canceled');

-- Kinds and queues are interned: the hot rows carry four bytes instead of a name.
create table @schema@.kind (
    id         integer generated always as identity primary key,
    name       text not null unique,
    runbook    text,
    created_at timestamptz not null default clock_timestamp()
);
-- halts: a dead letter pauses it; halted_by is the one that did. What a queue is told to do is stored, so that whichever
-- node settles the failure obeys it.
create table @schema@.queue (
    id         integer generated always as identity primary key,
    name       text not null unique,
    paused     boolean not null default false,
    paused_at  timestamptz,
    halts      boolean not null default false,
    halted_by  bigint,
    runbook    text,
    created_at timestamptz not null default clock_timestamp()
);

-- Each nextval is a block of 100 ids: one for a single job, ceil(n / 100) for a bulk call.
create sequence @schema@.job_id as bigint increment by 100 minvalue 100 start with 100;

-- What never changes about a job.
create table @schema@.job (
    id              bigint not null primary key,
    created_at      timestamptz not null,
    kind            integer not null,
    queue           integer not null,
    priority        smallint not null,
    payload_version integer not null,
    payload         jsonb not null,
    max_retries     integer,
    timeout         interval,
    backoff         text,
    tags            text[],
    params          jsonb,
    on_failure      text,
    on_success      text
) partition by range (id);

-- Due work, and nothing else. A row covers the n ids from first_id on, of one enqueue call. Inserted and deleted, never
-- updated. ready_claim is the claim order; ready_id serves verbs by id (a range never leaves its block of 100).
-- crashes: losses of its worker that were charged to the job. losses: those since its last counted outcome that were not,
-- because it was in company. From the second on it is a suspect, and is run alone: no claim wades through those.
create table @schema@.ready (
    first_id bigint not null,
    run_at   timestamptz not null,
    queue    integer not null,
    kind     integer not null,
    attempts integer not null default 0,
    n        smallint not null default 1,
    priority smallint not null,
    crashes  smallint not null default 0,
    losses   smallint not null default 0
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.2, vacuum_truncate = off);
create unique index ready_claim on @schema@.ready (queue, priority, run_at, first_id) where losses < 2;
create index ready_suspect on @schema@.ready (queue, priority, run_at, first_id) where losses >= 2;
create unique index ready_id on @schema@.ready (first_id);

-- Pending work that is not due yet: the same rows, apart, so that no claim wades through them.
create table @schema@.scheduled (like @schema@.ready including defaults)
  with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.2, vacuum_truncate = off);
create index scheduled_due on @schema@.scheduled (run_at, first_id);
create unique index scheduled_id on @schema@.scheduled (first_id);

-- Work that nothing may claim for now: paused by a person, or waiting for another job.
create table @schema@.parked (
    id        bigint not null primary key,
    state     @schema@.job_state not null check (state in ('waiting', 'paused')),
    parked_at timestamptz not null default clock_timestamp(),
    run_at    timestamptz not null,
    queue     integer not null,
    kind      integer not null,
    attempts  integer not null,
    priority  smallint not null,
    crashes   smallint not null,
    losses    smallint not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

-- Running work: one row per claimed batch; its id is the token that fences every write of its owner. Bit i of settled
-- says that ids[i + 1] has left; the bits past the last id are set from the start, so that "all set" means empty.
-- lost_by is the node that a rescuer took it from. losses is null where all are zero. begun says which runs have begun, of
-- the kinds that must not be run twice. alone_in is the queue of a suspect: one at a time is run, in the whole fleet. The
-- arrays are stored plain: toasting them would cost more than it saves.
create table @schema@.claim (
    id         bigint generated always as identity primary key,
    node       bigint not null,
    claimed_at timestamptz not null default clock_timestamp(),
    lost_by    bigint,
    settled    bit(128) not null,
    begun      bit(128),
    alone_in   integer,
    ids        bigint[] not null,
    attempts   integer[] not null,
    queues     integer[] not null,
    kinds      integer[] not null,
    priorities smallint[] not null,
    crashes    smallint[] not null,
    losses     smallint[]
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
alter table @schema@.claim
    alter ids set storage plain, alter attempts set storage plain, alter queues set storage plain,
    alter kinds set storage plain, alter priorities set storage plain, alter crashes set storage plain,
    alter losses set storage plain;
create index claim_node on @schema@.claim (node);
create unique index claim_alone on @schema@.claim (alone_in) where alone_in is not null;

-- Ended jobs. The dead letters are the rows of done_dead_letter, not a second table.
create table @schema@.done (
    id          bigint not null primary key,
    finished_at timestamptz not null,
    node        bigint,
    duration    interval,
    state       @schema@.job_state not null,
    attempts    integer not null,
    discarded   boolean not null default false,
    reason      text,
    detail      text,
    result      jsonb,
    error       jsonb
) partition by range (id);
create index done_dead_letter on @schema@.done (finished_at, id) where state = 'failed' and not discarded;
create index done_discarded on @schema@.done (finished_at, id) where state = 'failed' and discarded;

-- One row per run that failed, was lost, or timed out, with what was decided about it.
create table @schema@.attempt (
    id          bigint not null,
    finished_at timestamptz not null,
    token       bigint not null,
    node        bigint,
    attempt     integer not null,
    counted     boolean not null,
    redriven    boolean not null default false,
    started_at  timestamptz,
    duration    interval,
    class       text,
    type        text,
    message     text,
    causes      jsonb,
    decision    text not null,
    reason      text,
    rule        text,
    delay       interval,
    jitter      interval
) partition by range (id);
create index attempt_id on @schema@.attempt (id, finished_at);

-- One row per settle statement: an owner in doubt sends the same batch again under the same number, and it either
-- applies or meets this row, which says at which places of the batch, from 1, the first one found it stale.
create table @schema@.settled (
    node  bigint not null,
    seq   bigint not null,
    stale integer[] not null,
    primary key (node, seq)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        vacuum_truncate = off);

-- One scheduler in one process. Expiry is judged by this server's clock alone. held is how many jobs its process held when
-- it was found dead; if that was one, blamed is its id.
create table @schema@.node (
    id             bigint generated always as identity primary key,
    name           text not null,
    host           text not null,
    boot           text not null,
    pid            bigint not null,
    process_start  text not null,
    release        text not null,
    state          text not null default 'alive' check (state in ('alive', 'dead', 'stopped')),
    expiry         interval not null,
    held           integer,
    blamed         bigint,
    started_at     timestamptz not null default clock_timestamp(),
    heartbeat_at   timestamptz not null default clock_timestamp()
) with (fillfactor = 50, vacuum_truncate = off);

-- Runs whose job was canceled: told to their node by notification, and by its heartbeat where that was lost.
create table @schema@.canceled_run (
    number bigint generated always as identity primary key,
    node   bigint not null,
    token  bigint not null,
    id     bigint not null
) with (vacuum_truncate = off);
create index canceled_run_node on @schema@.canceled_run (node, number);

-- Who did what to a job from outside, and why.
create table @schema@.act (
    id    bigint generated always as identity primary key,
    job   bigint,
    queue integer,
    at    timestamptz not null default clock_timestamp(),
    verb  text not null,
    by    text not null,
    why   text not null
);
create index act_job on @schema@.act (job, id) where job is not null;
create index act_queue on @schema@.act (queue, id) where queue is not null;

-- Who sleeps, so that nobody is notified in vain. Queue 0 stands for the promotion of scheduled work.
create unlogged table @schema@.waiting (
    node    bigint not null,
    queue   integer not null,
    wake_at timestamptz not null,
    primary key (node, queue)
) with (fillfactor = 50, vacuum_truncate = off);

-- The id ranges that job, done and attempt are partitioned by.
create table @schema@.id_range (
    first_id bigint primary key,
    end_id   bigint not null unique,
    made_at  timestamptz not null default clock_timestamp()
);
create table @schema@.job_default partition of @schema@.job default;
create table @schema@.done_default partition of @schema@.done default;
create table @schema@.attempt_default partition of @schema@.attempt default;

-- Makes partitions until two whole ranges lie ahead of the last id. A range that was used up within a day is followed by
-- one twice as wide, one that lasted two weeks by one half as wide. Ids that ran ahead of the ranges stay in the default
-- partitions, which could not give them up without a scan, and the ranges begin after them. Returns how many it made.
create function @schema@.make_partitions() returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    last_used bigint;
    newest    record;
    width     bigint;
    made      integer := 0;
    part      text;
    suffix    text;
begin
    select case when is_called then last_value else last_value - 100 end into last_used from @schema@.job_id;
    loop
        select first_id, end_id, end_id - first_id as width, made_at into newest
        from @schema@.id_range order by end_id desc limit 1;
        exit when found and (select count(*) from @schema@.id_range where first_id > last_used) >= 2;
        width := case
            when newest.width is null then 100000000
            when newest.made_at > clock_timestamp() - interval '1 day' and made = 0
                 and (select count(*) from @schema@.id_range) > 3 then least(newest.width * 2, 100000000000)
            when newest.made_at < clock_timestamp() - interval '14 days' then greatest(newest.width / 2, 10000000)
            else newest.width end;
        newest.end_id := coalesce(newest.end_id, 0);
        if last_used > 0 and newest.end_id <= last_used then
            newest.end_id := (last_used / width + 1) * width;
        end if;
        suffix := newest.end_id::text;
        foreach part in array array['job', 'done', 'attempt'] loop
            execute format('create table %1$I.%2$I (like %1$I.%3$I including defaults including constraints)',
                           @schema_text@, part || '_' || suffix, part);
            execute format('alter table %1$I.%3$I attach partition %1$I.%2$I for values from (%4$s) to (%5$s)',
                           @schema_text@, part || '_' || suffix, part, newest.end_id, newest.end_id + width);
            execute format('alter table %1$I.%2$I set (autovacuum_vacuum_insert_scale_factor = 0.2, vacuum_truncate = off)',
                           @schema_text@, part || '_' || suffix);
        end loop;
        insert into @schema@.id_range (first_id, end_id) values (newest.end_id, newest.end_id + width);
        made := made + 1;
    end loop;
    return made;
end $$;
select @schema@.make_partitions();

-- The channel on which this schema's nodes listen: within the 63 bytes of a name, whatever the schema is called.
create function @schema@.channel() returns text
language sql immutable parallel safe as $$ select 'pawl_' || pg_catalog.md5(@schema_text@) $$;

-- Ids of a name, made when it is new. Looked up first, so that no identity value is burnt.
create function @schema@.intern_kind(wanted text) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare found_id integer;
begin
    loop
        select id into found_id from @schema@.kind where name = wanted;
        if found then return found_id; end if;
        insert into @schema@.kind (name) values (wanted) on conflict do nothing returning id into found_id;
        if found then return found_id; end if;
    end loop;
end $$;
create function @schema@.intern_queue(wanted text) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare found_id integer;
begin
    loop
        select id into found_id from @schema@.queue where name = wanted;
        if found then return found_id; end if;
        insert into @schema@.queue (name) values (wanted) on conflict do nothing returning id into found_id;
        if found then return found_id; end if;
    end loop;
end $$;

-- Wake-ups. Deferred, so that the flags of sleepers are read at the caller's commit: a node that went to sleep while the
-- caller's transaction was open is not missed. pg_notify takes a lock of the whole server through commit, hence only
-- when somebody sleeps. Equal notifications of one transaction are sent once. Above read committed the flags are seen as
-- of the caller's first statement, which says nothing about now: then everybody is told.
create function @schema@.wake_for_ready() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if current_setting('transaction_isolation') <> 'read committed'
       or exists (select from @schema@.waiting w where w.queue = new.queue) then
        perform pg_notify(@schema@.channel(), 'ready ' || new.queue);
    end if;
    return null;
end $$;
create constraint trigger wake_sleepers after insert on @schema@.ready
    deferrable initially deferred for each row execute function @schema@.wake_for_ready();

-- Scheduled work needs somebody awake at its time: nobody is told when some node has announced that it wakes by then.
create function @schema@.wake_for_scheduled() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if current_setting('transaction_isolation') <> 'read committed'
       or exists (select from @schema@.waiting w where w.queue = 0)
          and not exists (select from @schema@.waiting w where w.queue = 0 and w.wake_at <= new.run_at) then
        perform pg_notify(@schema@.channel(), 'scheduled');
    end if;
    return null;
end $$;
create constraint trigger wake_sleepers after insert on @schema@.scheduled
    deferrable initially deferred for each row execute function @schema@.wake_for_scheduled();

-- Stores jobs of one kind and one set of options; one block of ids, and one row of ready or scheduled, per 100 of them.
-- Returns the first id of each block. Times and spans are microseconds, so that a caller's statement needs no operator that
-- its search_path might hold another of. known_kind and known_queue are the ids of the names where they are known to be
-- committed: the caller's snapshot may be older. Checks nothing: enqueue() below, and the library, come before it.
create function @schema@.enqueue_jobs(
    kind_name text, queue_name text, level smallint, due_at bigint, due_in bigint, payloads jsonb[], version integer,
    retries integer, time_limit bigint, backoff_text text, tag_list text[], param_map jsonb,
    failure_kind text, success_kind text,
    known_kind integer default null, known_queue integer default null) returns bigint[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    ids      constant regclass := (quote_ident(@schema_text@) || '.job_id')::regclass;
    stamp    constant timestamptz := clock_timestamp();
    due      constant timestamptz := greatest(stamp, coalesce(timestamptz 'epoch' + due_at * interval '1 microsecond',
                                                              stamp + due_in * interval '1 microsecond'));
    limit_to constant interval := time_limit * interval '1 microsecond';
    total    constant integer := cardinality(payloads);
    kind_id  integer;
    queue_id integer;
    block    bigint;
    blocks   bigint[] := '{}';
    upto     integer := 0;
    size     integer;
begin
    select id into kind_id from @schema@.kind where name = kind_name;
    if not found then kind_id := coalesce(known_kind, @schema@.intern_kind(kind_name)); end if;
    select id into queue_id from @schema@.queue where name = queue_name;
    if not found then queue_id := coalesce(known_queue, @schema@.intern_queue(queue_name)); end if;
    while upto < total loop
        size := least(100, total - upto);
        block := nextval(ids);
        blocks := blocks || block;
        if size = 1 then
            insert into @schema@.job values (block, stamp, kind_id, queue_id, level, version, payloads[upto + 1],
                                             retries, limit_to, backoff_text, tag_list, param_map, failure_kind,
                                             success_kind);
        else
            insert into @schema@.job
            select block + p.place - 1, stamp, kind_id, queue_id, level, version, p.payload,
                   retries, limit_to, backoff_text, tag_list, param_map, failure_kind, success_kind
            from unnest(payloads[upto + 1 : upto + size]) with ordinality as p (payload, place);
        end if;
        if due <= stamp then
            insert into @schema@.ready (first_id, run_at, queue, kind, n, priority)
            values (block, due, queue_id, kind_id, size, level);
        else
            insert into @schema@.scheduled (first_id, run_at, queue, kind, n, priority)
            values (block, due, queue_id, kind_id, size, level);
        end if;
        upto := upto + size;
    end loop;
    return blocks;
end $$;
