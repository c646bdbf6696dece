#include "store/pg/claim_suspect.hpp"

#include <string>

#include "store/pg/job_rows.hpp"

namespace pawl::store::pg {
namespace {

// $1 node, $2 queues, $3 kinds. Uses ready_suspect and claim_alone.
//
// claim_alone lets one suspect of a queue be claimed at a time, in the whole fleet: of two nodes that try, the second
// waits for the first and then takes none. A suspect was claimed before, so that it stands for itself and not for a range.
constexpr std::string_view claim_suspect_sql = R"(
with alive as (
    select id from @schema@.node where id = $1 and state = 'alive'
), chosen as materialized (
    select r.ctid as place, r.*
    from @schema@.ready r
    join @schema@.queue q on q.id = r.queue and not q.paused
    where r.queue = any ($2::int[])
      and r.kind = any ($3::int[])
      and r.losses >= 2
      and exists (select from alive)
      and not exists (select from @schema@.claim c where c.alone_in = r.queue)
    order by r.run_at + r.priority * interval '1 minute', r.first_id
    limit 1
    for update of r skip locked
), claimed as (
    insert into @schema@.claim (node, alone_in, settled, ids, attempts, queues, kinds, priorities, crashes, losses)
    select $1, queue, ~ set_bit(repeat('0', 128)::bit(128), 0, 1), array[first_id], array[attempts], array[queue], array[kind],
           array[priority], array[crashes], array[losses]
    from chosen
    on conflict (alone_in) where alone_in is not null do nothing
    returning id
), taken as (
    delete from @schema@.ready
    where ctid = (select place from chosen)
      and exists (select from claimed)
), item as (
    select l.id as token, 0 as position, c.first_id as id, true as head, c.queue, c.kind, c.attempts, c.priority, c.crashes,
           c.losses, c.run_at
    from chosen c
    cross join claimed l
)
select exists (select from alive),
)";

constexpr std::string_view claim_suspect_from = R"(
from (select) as always
left join item on true
left join lateral (select * from @schema@.job j where j.id = item.id offset 0) job on true)";

}  // namespace

ClaimSuspectVerb::ClaimSuspectVerb(std::string_view schema)
    : claim_{"claim_suspect",
             with_schema(std::string(claim_suspect_sql) + std::string(job_columns) + std::string(claim_suspect_from),
                         schema)} {}

Claimed ClaimSuspectVerb::claim(Connection& connection, Names& names, const ClaimSuspect& wanted) const {
    const Result rows = connection.run(claim_, Params{}.add(wanted.node).add(wanted.queues).add(wanted.kinds));
    Claimed claimed;
    claimed.node_alive = rows.boolean(0, 0);
    claimed.jobs = read_jobs(rows, 1, wanted.node, names, connection);
    return claimed;
}

}  // namespace pawl::store::pg
