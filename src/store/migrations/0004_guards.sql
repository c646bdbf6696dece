-- Steps of JobContext::once: what a job has begun and done that must not be done again. A row without finished_at is an
-- intention: its run had begun the step, and until it says more nobody knows what became of it.
create table @schema@.step (
    id          bigint not null,
    name        text not null,
    token       bigint not null,
    began_at    timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    result      jsonb,
    primary key (id, name)
) with (vacuum_truncate = off);

-- What each node has counted over the last minute of the kinds that have a retry budget. Unlogged: it is said anew at each
-- heartbeat.
create unlogged table @schema@.retry_load (
    kind       integer not null,
    node       bigint not null,
    first_runs bigint not null,
    retries    bigint not null,
    said_at    timestamptz not null default clock_timestamp(),
    primary key (kind, node)
) with (fillfactor = 50, vacuum_truncate = off);
