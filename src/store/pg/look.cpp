#include "store/pg/look.hpp"

#include <string>
#include <utility>

#include "store/pg/job_info.hpp"

namespace pawl::store::pg {
namespace {

// $1 id
constexpr std::string_view find_from = R"(
from @schema@.find_job($1) f)";

// $1 kind, $2 queue or null, $3 tag or null, $4 state or null. Reads the jobs of the kind; each is then found by its id.
constexpr std::string_view search_from = R"(
from @schema@.job j
join @schema@.kind k on k.id = j.kind
cross join lateral @schema@.find_job(j.id) f
where k.name = $1
  and ($2::text is null or f.queue = $2)
  and ($3::text is null or $3 = any (j.tags))
  and ($4::text is null or f.state::text = $4)
order by j.id)";

// $1 queue or null. Live jobs are counted in the hot tables, ended ones in done: that reads all that are kept.
constexpr std::string_view counts_sql = R"(
with wanted as (
    select id from @schema@.queue where name = $1
), live as (
    select coalesce(sum(n) filter (where place = 'ready'), 0) as ready,
           coalesce(sum(n) filter (where place = 'scheduled'), 0) as scheduled,
           coalesce(sum(n) filter (where place = 'running'), 0) as running,
           coalesce(sum(n) filter (where place = 'paused'), 0) as paused
    from (
        select 'ready' as place, queue, n::bigint from @schema@.ready
        union all
        select 'scheduled', queue, n from @schema@.scheduled
        union all
        select state::text, queue, 1 from @schema@.parked
        union all
        select 'running', c.queues[i], 1
        from @schema@.claim c
        cross join lateral generate_series(1, cardinality(c.ids)) i
        where get_bit(c.settled, i - 1) = 0
    ) p
    where $1::text is null or p.queue in (select id from wanted)
), ended as (
    select count(*) filter (where d.state = 'succeeded') as succeeded,
           count(*) filter (where d.state = 'failed') as failed,
           count(*) filter (where d.state = 'canceled') as canceled
    from @schema@.done d
    where $1::text is null
       or exists (select from @schema@.job j where j.id = d.id and j.queue in (select id from wanted))
)
select ready, scheduled, running, paused, succeeded, failed, canceled
from live, ended)";

constexpr std::string_view verify_sql = R"(
select id, places
from @schema@.verify()
order by id
limit 1000)";

}  // namespace

LookVerbs::LookVerbs(std::string_view schema)
    : find_{"find", with_schema(std::string(job_info_columns) + std::string(find_from), schema)},
      search_{"", with_schema(std::string(job_info_columns) + std::string(search_from), schema)},
      counts_{"counts", with_schema(counts_sql, schema)},
      verify_{"", with_schema(verify_sql, schema)} {}

std::optional<JobInfo> LookVerbs::find(Connection& connection, JobId id) const {
    const Result rows = connection.run(find_, Params{}.add(id));
    if (rows.empty()) return std::nullopt;
    return read_job_info(rows, 0);
}

std::vector<JobInfo> LookVerbs::search(Connection& connection, const Search& wanted) const {
    std::optional<std::string_view> state;
    if (wanted.state) state = to_string(*wanted.state);
    const Result rows = connection.run(search_, Params{}.add(wanted.kind).add(wanted.queue).add(wanted.tag).add(state));
    std::vector<JobInfo> found;
    found.reserve(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) found.push_back(read_job_info(rows, row));
    return found;
}

JobCounts LookVerbs::counts(Connection& connection, std::optional<std::string_view> queue) const {
    const Result rows = connection.run(counts_, Params{}.add(queue));
    return {.ready = rows.int64(0, 0),
            .scheduled = rows.int64(0, 1),
            .running = rows.int64(0, 2),
            .paused = rows.int64(0, 3),
            .succeeded = rows.int64(0, 4),
            .failed = rows.int64(0, 5),
            .canceled = rows.int64(0, 6)};
}

std::vector<Misplaced> LookVerbs::verify(Connection& connection) const {
    const Result rows = connection.run(verify_);
    std::vector<Misplaced> misplaced;
    for (std::size_t row = 0; row < rows.size(); ++row)
        misplaced.push_back({rows.int64(row, 0), rows.text_array(row, 1)});
    return misplaced;
}

}  // namespace pawl::store::pg
