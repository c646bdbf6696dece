#include "store/pg/node.hpp"

#include <string>

#include <pawl/version.hpp>

#include "store/pg/job_rows.hpp"
#include "store/pg/lost_claims.hpp"

namespace pawl::store::pg {
namespace {

// $1 name, $2 host, $3 boot, $4 pid, $5 process start, $6 release, $7 expiry in microseconds
constexpr std::string_view register_sql = R"(
insert into @schema@.node (name, host, boot, pid, process_start, release, expiry)
values ($1, $2, $3, $4, $5, $6, $7::bigint * interval '1 microsecond')
returning id)";

// $1 node, $2 settle marks that are no longer needed, $3 canceled runs that were heard of. Uses claim_node, canceled_run_node.
constexpr std::string_view heartbeat_sql = R"(
with beat as (
    update @schema@.node
    set heartbeat_at = clock_timestamp()
    where id = $1
      and state = 'alive'
    returning id
), trimmed as (
    delete from @schema@.settled
    where node = $1
      and seq <= $2
), heard as (
    delete from @schema@.canceled_run
    where node = $1
      and number = any ($3::bigint[])
)
select exists (select from beat), c.id, c.lost_by is not null, null, null, null
from (select) as always
left join @schema@.claim c on c.node = $1
union all
select null, null, null, number, token, id
from @schema@.canceled_run
where node = $1
  and number <> all ($3::bigint[]))";

// Of claims that are `gone`: what they still held goes back uncounted, and keeps its turn as far as it is known.
constexpr std::string_view give_back_sql = R"(
insert into @schema@.ready (first_id, run_at, queue, kind, attempts, priority, crashes, losses)
select ids[i], claimed_at, queues[i], kinds[i], attempts[i], priorities[i], crashes[i], coalesce(losses[i], 0)
from gone
cross join lateral generate_series(1, cardinality(ids)) i
where get_bit(settled, i - 1) = 0)";

// $1 node, $2 tokens
constexpr std::string_view release_sql = R"(
with gone as (
    delete from @schema@.claim
    where id = any (array(
        select id from @schema@.claim where node = $1 and id = any ($2::bigint[]) and lost_by is null order by id for update))
    returning *
)
)";

// $1 node, $2 tokens
constexpr std::string_view load_sql = R"(
with item as (
    select c.id as token, i - 1 as position, c.ids[i] as id, true as head, c.queues[i] as queue, c.kinds[i] as kind,
           c.attempts[i] as attempts, c.priorities[i] as priority, c.crashes[i] as crashes, coalesce(c.losses[i], 0) as losses,
           c.claimed_at as run_at, c.lost_by, coalesce(l.blamed = c.ids[i], false) as alone,
           coalesce(get_bit(c.begun, i - 1) = 1, false) as begun
    from @schema@.claim c
    left join @schema@.node l on l.id = c.lost_by
    cross join lateral generate_series(1, cardinality(c.ids)) i
    where c.node = $1
      and c.id = any ($2::bigint[])
      and c.lost_by is not null
      and get_bit(c.settled, i - 1) = 0
)
select item.lost_by, item.alone, item.begun,
)";

constexpr std::string_view load_from = R"(
from item
left join lateral (select * from @schema@.job j where j.id = item.id offset 0) job on true
order by item.token, item.position)";

// $1 node. Only what it claimed itself: what it had taken over from others stays lost, for the next rescuer. So does a claim
// with a run that has begun and must not be repeated, which somebody has to decide about.
constexpr std::string_view goodbye_sql = R"(
with stopped as (
    update @schema@.node
    set state = 'stopped'
    where id = $1
      and state = 'alive'
), awake as (
    delete from @schema@.waiting
    where node = $1
), gone as (
    delete from @schema@.claim
    where id = any (array(
        select id
        from @schema@.claim
        where node = $1
          and lost_by is null
          and coalesce(bit_count(begun & ~ settled), 0) = 0
        order by id
        for update))
    returning *
)
)";

}  // namespace

NodeVerbs::NodeVerbs(std::string_view schema)
    : register_{"register_node", with_schema(register_sql, schema)},
      heartbeat_{"heartbeat", with_schema(heartbeat_sql, schema)},
      release_{"release_claims", with_schema(std::string(release_sql) + std::string(give_back_sql), schema)},
      load_{"load_claims",
            with_schema(std::string(load_sql) + std::string(job_columns) + std::string(load_from), schema)},
      goodbye_{"say_goodbye", with_schema(std::string(goodbye_sql) + std::string(give_back_sql), schema)} {}

NodeId NodeVerbs::register_node(Connection& connection, const Registration& node) const {
    return connection
        .run(register_, Params{}
                            .add(node.name)
                            .add(node.host)
                            .add(node.boot)
                            .add(node.pid)
                            .add(node.process_start)
                            .add(version())
                            .add(node.expiry.count()))
        .int64(0, 0);
}

Pulse NodeVerbs::heartbeat(Connection& connection, const Heartbeat& beat) const {
    const Result rows =
        connection.run(heartbeat_, Params{}.add(beat.node).add(beat.settled_upto).add(beat.canceled_heard));
    Pulse pulse;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!rows.is_null(row, 0)) pulse.alive = rows.boolean(row, 0);
        if (!rows.is_null(row, 1)) pulse.claims.push_back({rows.int64(row, 1), rows.boolean(row, 2)});
        if (!rows.is_null(row, 3))
            pulse.canceled.push_back({rows.int64(row, 3), rows.int64(row, 4), rows.int64(row, 5)});
    }
    return pulse;
}

std::int64_t NodeVerbs::release_claims(Connection& connection, NodeId node, std::span<const ClaimToken> tokens) const {
    return connection.run(release_, Params{}.add(node).add(tokens)).affected();
}

std::vector<LostClaim> NodeVerbs::load_claims(Connection& connection, Names& names, NodeId node,
                                              std::span<const ClaimToken> tokens) const {
    return read_lost_claims(connection.run(load_, Params{}.add(node).add(tokens)), 0, node, names, connection);
}

std::int64_t NodeVerbs::say_goodbye(Connection& connection, NodeId node) const {
    return connection.run(goodbye_, Params{}.add(node)).affected();
}

}  // namespace pawl::store::pg
