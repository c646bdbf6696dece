#include "store/pg/retry_load.hpp"

namespace pawl::store::pg {
namespace {

// $1 node, $2 kinds, $3 first runs, $4 retries. Uses the primary key; there is a row per node and kind. What nobody has said
// anew for ten minutes is of nodes that are gone.
constexpr std::string_view share_sql = R"(
with said as (
    insert into @schema@.retry_load (kind, node, first_runs, retries)
    select kind, $1, first_runs, retries
    from unnest($2::int[], $3::bigint[], $4::bigint[]) o (kind, first_runs, retries)
    on conflict (kind, node) do update
        set first_runs = excluded.first_runs, retries = excluded.retries, said_at = excluded.said_at
), forgotten as (
    delete from @schema@.retry_load
    where node <> $1
      and said_at < clock_timestamp() - interval '10 minutes'
)
select kind, sum(first_runs)::bigint, sum(retries)::bigint
from @schema@.retry_load
where kind = any ($2)
  and node <> $1
  and said_at > clock_timestamp() - interval '1 minute'
group by kind)";

}  // namespace

RetryLoadVerb::RetryLoadVerb(std::string_view schema) : share_{"share_retry_loads", with_schema(share_sql, schema)} {}

std::vector<KindLoad> RetryLoadVerb::share(Connection& connection, NodeId node, std::span<const KindLoad> own) const {
    std::vector<int> kinds;
    std::vector<std::int64_t> first_runs;
    std::vector<std::int64_t> retries;
    for (const KindLoad& one : own) {
        kinds.push_back(one.kind);
        first_runs.push_back(one.load.first_runs);
        retries.push_back(one.load.retries);
    }
    const Result rows = connection.run(share_, Params{}.add(node).add(kinds).add(first_runs).add(retries));
    std::vector<KindLoad> others;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        others.push_back({rows.int32(row, 0), {rows.int64(row, 1), rows.int64(row, 2)}});
    }
    return others;
}

}  // namespace pawl::store::pg
