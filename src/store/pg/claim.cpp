#include "store/pg/claim.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/pg/job_rows.hpp"
#include "store/pg/spans.hpp"

namespace pawl::store::pg {
namespace {

constexpr int levels = 5;

// $1 node, $2 queues, $3 levels, $4 rooms, $5 start run_at in microseconds (null: from the beginning), $6 start ids, $7 kinds,
// $8 excepted ids: retries, so ranges of one
//
// Candidates are read per queue and level from the remembered start, without locks, by ready_claim; a level counts as
// one minute of waiting, so that none starves. Only the winners are locked, by ctid, and those that somebody else has
// are skipped. Suspects are passed over: claim_suspect takes them. A range that does not fit is cut: the rest goes back under the same key. A row of claim holds 128 jobs; as
// many rows are made as it takes, because a statement costs as much as a hundred jobs do.
//
// The jobs of a range are alike in all but id and payload: only the first of them, its head, carries the rest.
constexpr std::string_view claim_sql = R"(
with alive as (
    select id from @schema@.node where id = $1 and state = 'alive'
), wanted as (
    select w.queue, w.level, w.room, coalesce(timestamptz 'epoch' + w.start_at * interval '1 microsecond', '-infinity') as start_at,
           w.start_id
    from unnest($2::int[], $3::smallint[], $4::int[], $5::bigint[], $6::bigint[]) w (queue, level, room, start_at, start_id)
    join @schema@.queue q on q.id = w.queue and not q.paused
    where exists (select from alive)
), candidate as materialized (
    select r.place, r.queue, r.n, w.room, r.first_id, r.run_at + r.priority * interval '1 minute' as turn
    from wanted w
    cross join lateral (
        select ctid as place, queue, priority, run_at, first_id, n
        from @schema@.ready
        where queue = w.queue
          and priority = w.level
          and (run_at, first_id) > (w.start_at, w.start_id)
          and kind = any ($7::int[])
          and first_id <> all ($8::bigint[])
          and losses < 2
        order by run_at, first_id
        limit w.room
    ) r
), ranked as (
    select place, turn, first_id, n, room,
           sum(n) over (partition by queue order by turn, first_id rows unbounded preceding) - n as before
    from candidate
), winner as materialized (
    select place, least(n, room - before) as fits from ranked where before < room
), taken as (
    delete from @schema@.ready
    where ctid = any (array(
        select ctid from @schema@.ready where ctid = any (array(select place from winner)) for update skip locked))
    returning ctid as place, first_id, run_at, queue, kind, attempts, n, priority, crashes, losses
), part as materialized (
    select t.*, least(t.n, w.fits)::int as size
    from taken t
    join winner w using (place)
), rest as (
    insert into @schema@.ready (first_id, run_at, queue, kind, attempts, n, priority, crashes, losses)
    select first_id + size, run_at, queue, kind, attempts, n - size, priority, crashes, losses
    from part
    where size < n
), numbered as materialized (
    select p.first_id + i as id, i = 0 as head, p.queue, p.kind, p.attempts, p.priority, p.crashes, p.losses, p.run_at,
           row_number() over (order by p.run_at + p.priority * interval '1 minute', p.first_id, i)::int - 1 as nth
    from part p
    cross join lateral generate_series(0, p.size - 1) i
), claimed as (
    insert into @schema@.claim (node, settled, ids, attempts, queues, kinds, priorities, crashes, losses)
    select $1, repeat('0', c.n)::bit(128) | (~ repeat('0', 128)::bit(128) >> c.n), c.ids, c.attempts, c.queues, c.kinds,
           c.priorities, c.crashes, c.losses
    from generate_series(0, (select (count(*)::int - 1) / 128 from numbered)) chunk
    cross join lateral (
        select count(*)::int as n, array_agg(id) as ids, array_agg(attempts) as attempts, array_agg(queue) as queues,
               array_agg(kind) as kinds, array_agg(priority) as priorities, array_agg(crashes) as crashes,
               case when max(losses) > 0 then array_agg(losses) end as losses
        from (select * from numbered where nth / 128 = chunk order by nth) o
    ) c
    where c.n > 0
    returning id
), item as (
    -- Tokens are drawn in the order of the chunks.
    select c.token, n.nth % 128 as position, n.*
    from (select id as token, row_number() over (order by id) - 1 as chunk from claimed) c
    join numbered n on n.nth / 128 = c.chunk
)
select exists (select from alive), (select count(*) from winner) > (select count(*) from taken),
       pg_snapshot_xmin(pg_current_snapshot())::text,
       exists (select from @schema@.ready where queue = any ($2) and kind = any ($7) and losses >= 2),
)";

constexpr std::string_view claim_from = R"(
from (select) as always
left join item on true
left join lateral (select * from @schema@.job j where j.id = item.id offset 0) job on true
order by item.nth)";

// $1 node, $2 queues, $3 wake_in in microseconds or null
constexpr std::string_view announce_sleep_sql = R"(
with told as (
    insert into @schema@.waiting (node, queue, wake_at)
    select $1, queue, coalesce(clock_timestamp() + $3::bigint * interval '1 microsecond', 'infinity')
    from unnest($2::int[]) queue
    on conflict (node, queue) do update set wake_at = excluded.wake_at
)
select pg_snapshot_xmax(pg_current_snapshot())::text)";

// $1 node
constexpr std::string_view announce_awake_sql = R"(
delete from @schema@.waiting
where node = $1
  and queue <> 0)";

}  // namespace

ClaimVerbs::ClaimVerbs(std::string_view schema)
    : claim_{"claim", with_schema(std::string(claim_sql) + std::string(job_columns) + std::string(claim_from), schema)},
      announce_sleep_{"announce_sleep", with_schema(announce_sleep_sql, schema)},
      announce_awake_{"announce_awake", with_schema(announce_awake_sql, schema)} {}

Claimed ClaimVerbs::claim(Connection& connection, Names& names, const Claim& wanted) const {
    std::map<std::pair<int, int>, const ClaimStart*> starts;
    for (const ClaimStart& start : wanted.starts) starts[{start.queue, static_cast<int>(start.level)}] = &start;

    std::vector<int> queues;
    std::vector<std::int16_t> queue_levels;
    std::vector<int> rooms;
    std::vector<std::optional<std::int64_t>> start_times;
    std::vector<std::int64_t> start_ids;
    for (const QueueRoom& room : wanted.rooms) {
        for (int level = 0; level < levels; ++level) {
            const auto start = starts.find({room.queue, level});
            const bool from_start = start == starts.end() || start->second->run_at == Time::min();
            queues.push_back(room.queue);
            queue_levels.push_back(static_cast<std::int16_t>(level));
            rooms.push_back(room.room);
            start_times.push_back(from_start ? std::nullopt
                                             : std::optional(start->second->run_at.time_since_epoch().count()));
            start_ids.push_back(from_start ? 0 : start->second->id);
        }
    }
    const Result rows = connection.run(claim_, Params{}
                                                   .add(wanted.node)
                                                   .add(queues)
                                                   .add(std::span<const std::int16_t>(queue_levels))
                                                   .add(rooms)
                                                   .add(start_times)
                                                   .add(start_ids)
                                                   .add(wanted.kinds)
                                                   .add(wanted.except));
    Claimed claimed;
    claimed.node_alive = rows.boolean(0, 0);
    claimed.met_locks = rows.boolean(0, 1);
    claimed.suspects = rows.boolean(0, 3);
    claimed.oldest_writer = static_cast<std::uint64_t>(rows.int64(0, 2));
    claimed.jobs = read_jobs(rows, 4, wanted.node, names, connection);
    return claimed;
}

Asleep ClaimVerbs::announce_sleep(Connection& connection, const Sleep& sleep) const {
    const Result rows = connection.run(
        announce_sleep_, Params{}
                             .add(sleep.node)
                             .add(sleep.queues)
                             .add(sleep.wake_in ? std::optional(storable_span(*sleep.wake_in)) : std::nullopt));
    return {.first_later_writer = static_cast<std::uint64_t>(rows.int64(0, 0))};
}

void ClaimVerbs::announce_awake(Connection& connection, NodeId node) const {
    connection.run(announce_awake_, Params{}.add(node));
}

}  // namespace pawl::store::pg
