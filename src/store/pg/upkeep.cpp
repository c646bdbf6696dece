#include "store/pg/upkeep.hpp"

#include <string>

#include "store/pg/job_rows.hpp"
#include "store/pg/lost_claims.hpp"
#include "store/pg/spans.hpp"

namespace pawl::store::pg {
namespace {

// $1 node, $2 limit, $3 may expire. Uses claim's primary key; there are few claims.
//
// A claim of claims: it goes to the rescuer under a new token, so that a late write of the former owner finds nothing.
// Deciding and charging come later, at the settle. Any claim is taken whose node is not alive, at every round, because a
// statement of a lost connection may still have committed one after the death mark. What a node held that said goodbye
// was never run, and goes back uncounted, unless a run is known to have begun that must not be repeated. Nodes found expired
// here lose their claims in the next round.
//
// The first of a process's nodes to be found dead settles what all of them held: later some of it has been taken. What they had
// taken over from others they did not run.
constexpr std::string_view rescue_sql = R"(
with alive as (
    select id from @schema@.node where id = $1 and state = 'alive'
), expired as (
    update @schema@.node n
    set state = 'dead', (held, blamed) = (
        select found.held, found.blamed
        from (
            select 1 as choice, d.held, d.blamed
            from @schema@.node d
            where d.state = 'dead' and d.held is not null and d.heartbeat_at + d.expiry >= n.heartbeat_at
              and (d.host, d.boot, d.pid, d.process_start) = (n.host, n.boot, n.pid, n.process_start)
            union all
            select 2, count(*), case when count(*) = 1 then min(c.ids[i]) end
            from @schema@.claim c
            cross join lateral generate_series(1, cardinality(c.ids)) i
            where get_bit(c.settled, i - 1) = 0
              and c.lost_by is null
              and c.node in (select s.id from @schema@.node s
                             where (s.host, s.boot, s.pid, s.process_start) = (n.host, n.boot, n.pid, n.process_start))
        ) found
        order by found.choice
        limit 1)
    where state = 'alive'
      and id <> $1
      and heartbeat_at + expiry < clock_timestamp()
      and $3::boolean
      and exists (select from alive)
    returning id
), forgotten as (
    delete from @schema@.waiting
    where node in (select id from expired)
), loser as materialized (
    select c.id, n.state is not distinct from 'stopped' and c.lost_by is null
                 and coalesce(bit_count(c.begun & ~ c.settled), 0) = 0 as said_goodbye
    from @schema@.claim c
    left join @schema@.node n on n.id = c.node
    where n.state is distinct from 'alive'
      and exists (select from alive)
    order by c.id
    limit $2
    for update of c skip locked
), taken as (
    delete from @schema@.claim c
    using loser l
    where c.id = l.id
    returning c.*, l.said_goodbye
), released as (
    insert into @schema@.ready (first_id, run_at, queue, kind, attempts, priority, crashes, losses)
    select ids[i], claimed_at, queues[i], kinds[i], attempts[i], priorities[i], crashes[i], coalesce(losses[i], 0)
    from taken
    cross join lateral generate_series(1, cardinality(ids)) i
    where said_goodbye
      and get_bit(settled, i - 1) = 0
    returning first_id
), ours as (
    insert into @schema@.claim (node, lost_by, claimed_at, settled, begun, alone_in, ids, attempts, queues, kinds, priorities,
                                crashes, losses)
    select $1, coalesce(lost_by, node), claimed_at, settled, begun, alone_in, ids, attempts, queues, kinds, priorities, crashes,
           losses
    from taken
    where not said_goodbye
    returning *
), item as (
    select o.id as token, i - 1 as position, o.ids[i] as id, true as head, o.queues[i] as queue, o.kinds[i] as kind,
           o.attempts[i] as attempts, o.priorities[i] as priority, o.crashes[i] as crashes, coalesce(o.losses[i], 0) as losses,
           o.claimed_at as run_at, o.lost_by, coalesce(l.blamed = o.ids[i], false) as alone,
           coalesce(get_bit(o.begun, i - 1) = 1, false) as begun
    from ours o
    left join @schema@.node l on l.id = o.lost_by
    cross join lateral generate_series(1, cardinality(o.ids)) i
    where get_bit(o.settled, i - 1) = 0
)
select array(select id from expired), (select count(*) from released), item.lost_by, item.alone, item.begun,
)";

constexpr std::string_view rescue_from = R"(
from (select) as always
left join item on true
left join lateral (select * from @schema@.job j where j.id = item.id offset 0) job on true
order by item.token, item.position)";

// $1 limit. Uses scheduled_due.
constexpr std::string_view promote_sql = R"(
with due as (
    delete from @schema@.scheduled
    where ctid = any (array(
        select ctid
        from @schema@.scheduled
        where run_at <= statement_timestamp()
        order by run_at, first_id
        limit $1
        for update skip locked))
    returning first_id, run_at, queue, kind, attempts, n, priority, crashes, losses
), moved as (
    insert into @schema@.ready (first_id, run_at, queue, kind, attempts, n, priority, crashes, losses)
    select first_id, run_at, queue, kind, attempts, n, priority, crashes, losses
    from due
)
select (select count(*) from due),
       (extract(epoch from (select min(run_at) from @schema@.scheduled where run_at > statement_timestamp())
                           - clock_timestamp()) * 1000000)::bigint)";

// No parameter. Moved rather than given another time, so that the trigger of ready wakes who sleeps.
constexpr std::string_view make_due_sql = R"(
with due as (
    delete from @schema@.scheduled
    returning first_id, least(run_at, clock_timestamp()) as run_at, queue, kind, attempts, n, priority, crashes, losses
), moved as (
    insert into @schema@.ready (first_id, run_at, queue, kind, attempts, n, priority, crashes, losses)
    select first_id, run_at, queue, kind, attempts, n, priority, crashes, losses
    from due
)
select coalesce(sum(n), 0)::bigint
from due)";

// $1 after id, $2 limit, $3 $4 $5 retention of succeeded, failed, canceled (null: for ever). Uses done_pkey.
//
// A window of ids moves over the ended jobs, so that what is kept long does not have to be read again and again. One node
// at a time, by a lock that ends with the statement.
constexpr std::string_view purge_sql = R"(
with turn as materialized (
    select pg_try_advisory_xact_lock(hashtext('pawl purge'), hashtext(@schema_text@)) as ours
), seen as materialized (
    select id, state, finished_at
    from @schema@.done
    where id > $1
      and (select ours from turn)
    order by id
    limit $2
), expired as materialized (
    select id
    from seen
    where finished_at < clock_timestamp() - interval '1 microsecond'
                        * case state when 'succeeded' then $3::bigint when 'failed' then $4::bigint else $5::bigint end
), histories as (
    delete from @schema@.attempt where id = any (array(select id from expired)) returning id
), acts as (
    delete from @schema@.act where job = any (array(select id from expired))
), steps as (
    delete from @schema@.step where id = any (array(select id from expired))
), ended as (
    delete from @schema@.done where id = any (array(select id from expired))
), jobs as (
    delete from @schema@.job where id = any (array(select id from expired)) returning id
)
select (select ours from turn), (select count(*) from seen), (select max(id) from seen), (select count(*) from jobs),
       (select count(*) from histories),
       (select coalesce(bool_or(finished_at < clock_timestamp() - interval '1 microsecond'
                                              * least($3::bigint, $4::bigint, $5::bigint)), false) from seen))";

// A node that stopped leaves its last settle marks, because an outcome in doubt may still be asked for. No claim statement
// and no outcome of a process is a day old.
constexpr std::string_view forget_nodes_sql = R"(
with forgotten as (
    delete from @schema@.node n
    where n.state <> 'alive'
      and n.heartbeat_at < clock_timestamp() - interval '1 day'
      and not exists (select from @schema@.claim c where c.node = n.id)
    returning id
), untold as (
    delete from @schema@.canceled_run
    where node in (select id from forgotten)
)
delete from @schema@.settled
where node in (select id from forgotten))";

std::optional<std::int64_t> span_or_null(const std::optional<Duration>& span) {
    return span ? std::optional(storable_span(span->microseconds())) : std::nullopt;
}

}  // namespace

UpkeepVerbs::UpkeepVerbs(std::string_view schema)
    : rescue_{"rescue",
              with_schema(std::string(rescue_sql) + std::string(job_columns) + std::string(rescue_from), schema)},
      promote_{"promote", with_schema(promote_sql, schema)},
      make_due_{"", with_schema(make_due_sql, schema)},
      purge_{"purge", with_schema(purge_sql, schema)},
      short_lock_wait_{"", "select set_config('lock_timeout', '200ms', true)"},
      make_room_{"make_room", with_schema("select @schema@.make_partitions()", schema)},
      forget_nodes_{"forget_nodes", with_schema(forget_nodes_sql, schema)} {}

Rescued UpkeepVerbs::rescue(Connection& connection, Names& names, const Rescue& round) const {
    const Result rows = connection.run(rescue_, Params{}.add(round.node).add(round.limit).add(round.may_expire));
    return {.expired = rows.int64_array(0, 0),
            .claims = read_lost_claims(rows, 2, round.node, names, connection),
            .released = rows.int64(0, 1)};
}

Promoted UpkeepVerbs::promote(Connection& connection, int limit) const {
    const Result rows = connection.run(promote_, Params{}.add(limit));
    Promoted promoted{.moved = rows.int64(0, 0), .next_due = std::nullopt};
    if (const auto wait = rows.optional_int64(0, 1)) promoted.next_due = std::chrono::microseconds(*wait);
    return promoted;
}

std::int64_t UpkeepVerbs::make_due(Connection& connection) const { return connection.run(make_due_).int64(0, 0); }

Purged UpkeepVerbs::purge(Connection& connection, const Purge& round) const {
    const Result rows = connection.run(purge_, Params{}
                                                   .add(round.after)
                                                   .add(round.limit)
                                                   .add(span_or_null(round.retention.succeeded))
                                                   .add(span_or_null(round.retention.failed))
                                                   .add(span_or_null(round.retention.canceled)));
    return {.ours = rows.boolean(0, 0),
            .looked_at = rows.int64(0, 1),
            .last = rows.optional_int64(0, 2).value_or(round.after),
            .any_old = rows.boolean(0, 5),
            .jobs = rows.int64(0, 3),
            .attempts = rows.int64(0, 4)};
}

void UpkeepVerbs::forget_nodes(Connection& connection) const { connection.run(forget_nodes_); }

void UpkeepVerbs::make_room(Connection& connection) const {
    // Attaching a partition locks out readers of the default one: it waits for them briefly, and comes back later.
    Transaction transaction(connection);
    transaction.run(short_lock_wait_);
    transaction.run(make_room_);
    transaction.commit();
}

}  // namespace pawl::store::pg
