#include "store/pg/queue.hpp"

#include <string>

namespace pawl::store::pg {
namespace {

// $1 queue, $2 runbook, $3 halts
constexpr std::string_view describe_queue_sql = R"(
update @schema@.queue
set runbook = nullif($2::text, ''), halts = $3::boolean
where id = $1
  and (runbook is distinct from nullif($2::text, '') or halts <> $3::boolean))";

// $1 kind, $2 runbook
constexpr std::string_view describe_kind_sql = R"(
update @schema@.kind
set runbook = nullif($2::text, '')
where id = $1
  and runbook is distinct from nullif($2::text, ''))";

// $1 queue, $2 by, $3 why. A claim statement that began before it may still take jobs; the nodes that hear of it give back what
// they have not begun.
constexpr std::string_view pause_sql = R"(
with paused as (
    update @schema@.queue
    set paused = true, paused_at = clock_timestamp(), halted_by = null
    where id = $1
      and not paused
    returning id
), noted as (
    insert into @schema@.act (queue, verb, by, why)
    select id, 'pause', $2, $3
    from paused
)
select count(pg_notify(@schema@.channel(), 'paused ' || id)) > 0
from paused)";

// $1 queue, $2 by, $3 why. Sleepers are woken as by an enqueue.
constexpr std::string_view resume_sql = R"(
with resumed as (
    update @schema@.queue
    set paused = false, paused_at = null, halted_by = null
    where id = $1
      and paused
    returning id
), noted as (
    insert into @schema@.act (queue, verb, by, why)
    select id, 'resume', $2, $3
    from resumed
)
select count(pg_notify(@schema@.channel(), 'ready ' || id)) > 0
from resumed)";

constexpr std::string_view list_sql = R"(
select name, paused, (extract(epoch from paused_at) * 1000000)::bigint, halted_by, runbook
from @schema@.queue
order by name)";

}  // namespace

QueueVerbs::QueueVerbs(std::string_view schema)
    : describe_queue_{"describe_queue", with_schema(describe_queue_sql, schema)},
      describe_kind_{"describe_kind", with_schema(describe_kind_sql, schema)},
      pause_{"pause_queue", with_schema(pause_sql, schema)},
      resume_{"resume_queue", with_schema(resume_sql, schema)},
      list_{"queues", with_schema(list_sql, schema)} {}

void QueueVerbs::describe(Connection& connection, Names& names, std::span<const QueueFacts> queues,
                          std::span<const KindFacts> kinds) const {
    for (const QueueFacts& queue : queues) {
        const int id = names.queue_id(connection, queue.name);
        connection.run(describe_queue_, Params{}.add(id).add(queue.runbook).add(queue.halts));
    }
    for (const KindFacts& kind : kinds)
        connection.run(describe_kind_, Params{}.add(names.kind_id(connection, kind.name)).add(kind.runbook));
}

bool QueueVerbs::pause(Connection& connection, Names& names, const ActOnQueue& act) const {
    const int id = names.queue_id(connection, act.name);
    return connection.run(pause_, Params{}.add(id).add(act.by).add(act.why)).boolean(0, 0);
}

bool QueueVerbs::resume(Connection& connection, Names& names, const ActOnQueue& act) const {
    const int id = names.queue_id(connection, act.name);
    return connection.run(resume_, Params{}.add(id).add(act.by).add(act.why)).boolean(0, 0);
}

std::vector<QueueInfo> QueueVerbs::list(Connection& connection) const {
    const Result rows = connection.run(list_);
    std::vector<QueueInfo> queues;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        queues.push_back({.name = rows.string(row, 0),
                          .paused = rows.boolean(row, 1),
                          .paused_at = rows.optional_time(row, 2),
                          .halted_by = rows.optional_int64(row, 3),
                          .runbook = rows.optional_string(row, 4).value_or(std::string{})});
    }
    return queues;
}

}  // namespace pawl::store::pg
