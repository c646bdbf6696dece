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
