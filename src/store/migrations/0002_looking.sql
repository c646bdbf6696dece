-- Looking at jobs: for people, for find(), for the tests, and enqueueing from SQL.

create function @schema@.priority_name(level smallint) returns text
language sql immutable parallel safe as $$
    select (array['critical', 'high', 'normal', 'low', 'lowest'])[level + 1]
$$;

-- Every job that has not ended, with where it stands. One snapshot, so that each is in exactly one place.
create view @schema@.live as
select r.first_id + i as id, 'pending'::@schema@.job_state as state, r.queue, r.priority, r.attempts, r.crashes,
       r.run_at, null::bigint as token, null::bigint as node
from @schema@.ready r cross join lateral generate_series(0, r.n - 1) i
union all
select s.first_id + i, 'pending', s.queue, s.priority, s.attempts, s.crashes, s.run_at, null, null
from @schema@.scheduled s cross join lateral generate_series(0, s.n - 1) i
union all
select id, state, queue, priority, attempts, crashes, run_at, null, null
from @schema@.parked
union all
select c.ids[i], 'running', c.queues[i], c.priorities[i], c.attempts[i], c.crashes[i], null, c.id, c.node
from @schema@.claim c cross join lateral generate_series(1, cardinality(c.ids)) i
where get_bit(c.settled, i - 1) = 0;

-- For people: select * from jobs where state = 'failed' order by finished_at desc.
create view @schema@.jobs as
select j.id, k.name as kind, q.name as queue, @schema@.priority_name(p.priority) as priority, p.state, p.attempts,
       j.payload, j.tags, j.params, j.created_at, p.run_at, p.finished_at, p.duration, p.result, p.reason, p.detail,
       p.error, p.discarded, p.node
from (
    select id, state, queue, priority, attempts, run_at, null::timestamptz as finished_at, null::interval as duration,
           null::jsonb as result, null::text as reason, null::text as detail, null::jsonb as error,
           false as discarded, node
    from @schema@.live
    union all
    select id, state, null, null, attempts, null, finished_at, duration, result, reason, detail, error, discarded, node
    from @schema@.done
) p
join @schema@.job j on j.id = p.id
join @schema@.kind k on k.id = j.kind
join @schema@.queue q on q.id = coalesce(p.queue, j.queue);

-- Where one job stands: each place by its own index, all in one snapshot.
create function @schema@.find_job(wanted bigint) returns table (
    id bigint, kind text, queue text, level smallint, state @schema@.job_state, attempts integer, max_retries integer,
    payload text, tags text[], params jsonb, created_at timestamptz, run_at timestamptz, finished_at timestamptz,
    duration interval, result text, reason text, discarded boolean, error jsonb)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with place as (
        select 'pending'::@schema@.job_state as state, r.queue, r.priority, r.attempts, r.run_at
        from (select * from @schema@.ready where first_id between wanted - 99 and wanted
              order by first_id desc limit 1) r
        where r.first_id + r.n > wanted
        union all
        select 'pending', s.queue, s.priority, s.attempts, s.run_at
        from (select * from @schema@.scheduled where first_id between wanted - 99 and wanted
              order by first_id desc limit 1) s
        where s.first_id + s.n > wanted
        union all
        select p.state, p.queue, p.priority, p.attempts, p.run_at from @schema@.parked p where p.id = wanted
        union all
        select 'running', c.queues[at.place], c.priorities[at.place], c.attempts[at.place], null
        from @schema@.claim c cross join lateral (select array_position(c.ids, wanted) as place) at
        where at.place is not null and get_bit(c.settled, at.place - 1) = 0
    )
    select j.id, k.name, q.name, coalesce(p.priority, j.priority), coalesce(p.state, d.state),
           coalesce(p.attempts, d.attempts), j.max_retries, j.payload::text, j.tags, j.params, j.created_at, p.run_at,
           d.finished_at, d.duration, d.result::text, d.reason, coalesce(d.discarded, false), d.error
    from @schema@.job j
    left join place p on true
    left join @schema@.done d on d.id = j.id and p.state is null
    join @schema@.kind k on k.id = j.kind
    join @schema@.queue q on q.id = coalesce(p.queue, j.queue)
    where j.id = wanted
$$;

-- Ids that stand in no place or in two, within [first_id, end_id). No row means that all is well. One statement, one
-- snapshot; without bounds it reads everything.
create function @schema@.verify(from_id bigint default 0, end_id bigint default 9223372036854775807)
returns table (id bigint, places text[])
language sql stable set search_path = pg_catalog, pg_temp as $$
    with standing as (
        select r.first_id + i as id, 'ready' as place
        from @schema@.ready r cross join lateral generate_series(0, r.n - 1) i
        where r.first_id >= from_id - 99 and r.first_id < end_id
        union all
        select s.first_id + i, 'scheduled'
        from @schema@.scheduled s cross join lateral generate_series(0, s.n - 1) i
        where s.first_id >= from_id - 99 and s.first_id < end_id
        union all
        select p.id, 'parked' from @schema@.parked p where p.id >= from_id and p.id < end_id
        union all
        select c.ids[i], 'claim ' || c.id
        from @schema@.claim c cross join lateral generate_series(1, cardinality(c.ids)) i
        where get_bit(c.settled, i - 1) = 0
        union all
        select d.id, 'done' from @schema@.done d where d.id >= from_id and d.id < end_id
    )
    select coalesce(j.id, s.id), array_remove(array_agg(s.place order by s.place), null)
    from (select j.id from @schema@.job j where j.id >= from_id and j.id < end_id) j
    full join (select * from standing where standing.id >= from_id and standing.id < end_id) s on s.id = j.id
    group by coalesce(j.id, s.id)
    having count(s.place) <> 1 or count(j.id) = 0
$$;

create function @schema@.check_name(what text, name text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
    if name is null or name = '' then
        raise exception 'pawl: % must not be empty', what using errcode = 'invalid_parameter_value';
    elsif octet_length(name) > 200 then
        raise exception 'pawl: % is % bytes long, at most 200 are allowed', what, octet_length(name)
            using errcode = 'invalid_parameter_value';
    elsif name ~ '[\x01-\x1f\x7f]' then
        raise exception 'pawl: % holds a control character', what using errcode = 'invalid_parameter_value';
    end if;
end $$;

-- A span of time given as JSON, a number of seconds or an interval in PostgreSQL's notation, in microseconds. Bounded as
-- numeric: an interval that is too long for its microseconds wraps around silently.
create function @schema@.read_span(what text, given jsonb) returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare span numeric;
begin
    if given is null or jsonb_typeof(given) = 'null' then return null; end if;
    begin
        span := case jsonb_typeof(given)
            when 'number' then ceil((given #>> '{}')::numeric * 1000000)
            when 'string' then extract(epoch from (given #>> '{}')::interval) * 1000000 end;
    exception when others then span := null;
    end;
    if span is null then
        raise exception 'pawl: % must be a number of seconds or an interval', what
            using errcode = 'invalid_parameter_value';
    elsif span < 0 then
        raise exception 'pawl: % must not be negative', what using errcode = 'invalid_parameter_value';
    elsif span > 31556952000000000 then
        raise exception 'pawl: % must not be above 1000 years', what using errcode = 'invalid_parameter_value';
    end if;
    return span::bigint;
end $$;

-- A whole number from zero on, given as JSON.
create function @schema@.read_count(what text, given text) returns integer
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare count integer;
begin
    begin
        count := given::integer;
    exception when others then
        raise exception 'pawl: % must be a whole number below 2^31', what using errcode = 'invalid_parameter_value';
    end;
    if count < 0 then
        raise exception 'pawl: % must not be negative', what using errcode = 'invalid_parameter_value';
    end if;
    return count;
end $$;

-- Refuses what the library cannot read back: a law, its cap and its jitter, for instance "exponential 2s capped 10min equal".
create function @schema@.check_backoff(given jsonb) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
    span   constant text := '[0-9]{1,19}(?:us|ms|s|min|h|d)';
    factor constant text := '([0-9]{1,9}(?:[.][0-9]{1,9})?)';
    law    constant text := '(?:none|polynomial|(?:fixed|exponential) +' || span || '|list(?: +' || span || ')*)';
    jitter constant text := '(?:no_jitter|full|equal|up_to +' || factor || '|scaled +' || factor || ' +' || factor || ')';
    notation text;
    factors  text[];
begin
    if given is null or jsonb_typeof(given) = 'null' then return; end if;
    notation := given #>> '{}';
    factors := regexp_match(notation, '^ *' || law || '(?: +capped +' || span || ')?(?: +' || jitter || ')? *$');
    if jsonb_typeof(given) <> 'string' or factors is null or factors[1]::numeric > 1
       or factors[2]::numeric > factors[3]::numeric or factors[3]::numeric > 100
       or exists (select from regexp_matches(notation, '([0-9]+)(us|ms|s|min|h|d)', 'g') m
                  where m[1]::numeric * case m[2] when 'us' then 1 when 'ms' then 1000 when 's' then 1000000
                                                  when 'min' then 60000000 when 'h' then 3600000000
                                                  else 86400000000 end > 9223372036854775807) then
        raise exception 'pawl: backoff cannot be read; write it like "exponential 2s capped 10min equal", "fixed 5s", '
                        '"list 1s 30s 5min", "polynomial" or "none"' using errcode = 'invalid_parameter_value';
    elsif (select count(*) > 100 from regexp_matches(notation, '[0-9](us|ms|s|min|h|d)', 'g')) then
        raise exception 'pawl: backoff lists too many waits, at most 100 are allowed' using errcode = 'invalid_parameter_value';
    end if;
end $$;

-- Enqueues one job in the caller's transaction, from psql, another language, another driver. Options, all optional:
-- queue, priority (a word), delay, run_at, max_retries, timeout, backoff (the library's notation), tags, params,
-- payload_version, on_failure, on_success. Checks what the library checks, and names the option that is wrong. Returns the id.
create function @schema@.enqueue(kind text, payload jsonb default '{}', options jsonb default '{}') returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    unknown    text;
    queue      text;
    level      integer;
    retries    integer;
    time_limit bigint;
    delay      bigint;
    due        timestamptz;
    due_at     bigint;
    tag_list   text[];
    param_map  jsonb;
begin
    perform @schema@.check_name('kind', kind);
    if payload is null then
        raise exception 'pawl: payload must not be null; use a JSON value' using errcode = 'invalid_parameter_value';
    elsif octet_length(payload::text) > 102400 then
        raise exception 'pawl: the payload is % bytes long, at most 102400 are allowed', octet_length(payload::text)
            using errcode = 'invalid_parameter_value';
    end if;
    options := coalesce(options, '{}');
    if jsonb_typeof(options) <> 'object' then
        raise exception 'pawl: options must be a JSON object' using errcode = 'invalid_parameter_value';
    end if;
    select key into unknown from jsonb_object_keys(options) key
    where key not in ('queue', 'priority', 'delay', 'run_at', 'max_retries', 'timeout', 'backoff', 'tags', 'params',
                      'payload_version', 'on_failure', 'on_success')
    order by key limit 1;
    if found then
        raise exception 'pawl: there is no option "%"', unknown using errcode = 'invalid_parameter_value';
    end if;

    queue := coalesce(options ->> 'queue', 'default');
    perform @schema@.check_name('queue', queue);
    level := array_position(array['critical', 'high', 'normal', 'low', 'lowest'],
                            coalesce(options ->> 'priority', 'normal')) - 1;
    if level is null then
        raise exception 'pawl: priority must be one of critical, high, normal, low, lowest'
            using errcode = 'invalid_parameter_value';
    end if;
    retries := @schema@.read_count('max_retries', options ->> 'max_retries');
    time_limit := @schema@.read_span('timeout', options -> 'timeout');
    if time_limit = 0 then
        raise exception 'pawl: timeout must be above zero' using errcode = 'invalid_parameter_value';
    end if;
    delay := @schema@.read_span('delay', options -> 'delay');
    begin
        due := (options ->> 'run_at')::timestamptz;
    exception when others then
        raise exception 'pawl: run_at must be a timestamp' using errcode = 'invalid_parameter_value';
    end;
    if due > timestamptz '9999-12-31 23:59:59.999999+00' then
        raise exception 'pawl: run_at must not be after the year 9999' using errcode = 'invalid_parameter_value';
    elsif due is not null then
        due_at := extract(epoch from greatest(due, timestamptz 'epoch')) * 1000000;
    end if;
    perform @schema@.check_backoff(options -> 'backoff');
    if options ? 'on_failure' then perform @schema@.check_name('on_failure', options ->> 'on_failure'); end if;
    if options ? 'on_success' then perform @schema@.check_name('on_success', options ->> 'on_success'); end if;
    if due is not null and delay is not null then
        raise exception 'pawl: give delay or run_at, not both' using errcode = 'invalid_parameter_value';
    end if;

    if jsonb_typeof(options -> 'tags') <> 'null' then
        if jsonb_typeof(options -> 'tags') <> 'array'
           or jsonb_path_exists(options, 'strict $.tags[*] ? (@.type() != "string")', '{}', true) then
            raise exception 'pawl: tags must be an array of texts' using errcode = 'invalid_parameter_value';
        end if;
        select array_agg(distinct lower(btrim(tag, E' \t\r\n\f\x0b')) order by lower(btrim(tag, E' \t\r\n\f\x0b'))) into tag_list
        from jsonb_array_elements_text(options -> 'tags') tag;
        if cardinality(tag_list) > 20 then
            raise exception 'pawl: tags are % in number, at most 20 are allowed', cardinality(tag_list)
                using errcode = 'invalid_parameter_value';
        end if;
        if exists (select from unnest(tag_list) tag where tag = '' or octet_length(tag) > 64
                                                         or tag ~ '[\x01-\x1f\x7f]') then
            raise exception 'pawl: each of the tags must be 1 to 64 bytes long, without control characters'
                using errcode = 'invalid_parameter_value';
        end if;
    end if;
    if jsonb_typeof(options -> 'params') <> 'null' then
        param_map := options -> 'params';
        if jsonb_typeof(param_map) <> 'object'
           or exists (select from jsonb_each(param_map) p where jsonb_typeof(p.value) <> 'string' or p.key = ''
                                                                           or p.key ~ '[\x01-\x1f\x7f]') then
            raise exception 'pawl: params must be an object of texts, with visible keys'
                using errcode = 'invalid_parameter_value';
        elsif (select count(*) > 20 or sum(octet_length(p.key) + octet_length(p.value)) > 4096
               from jsonb_each_text(param_map) p) then
            raise exception 'pawl: params are at most 20, and 4096 bytes together' using errcode = 'invalid_parameter_value';
        end if;
    end if;

    return (@schema@.enqueue_jobs(kind, queue, level::smallint, due_at, delay, array[payload],
                                  coalesce(@schema@.read_count('payload_version', options ->> 'payload_version'), 0),
                                  retries, time_limit,
                                  options ->> 'backoff', tag_list, param_map,
                                  options ->> 'on_failure', options ->> 'on_success'))[1];
end $$;
