#include "store/pg/look.hpp"

#include <string>
#include <utility>

#include "store/pg/error_json.hpp"

namespace pawl::store::pg {
namespace {

constexpr std::string_view found_columns = R"(
select f.id, f.kind, f.queue, f.level, f.state::text, f.attempts, f.max_retries, f.payload, f.tags,
       (select array_agg(word order by pair.key, place) from jsonb_each_text(f.params) pair
        cross join lateral unnest(array[pair.key, pair.value]) with ordinality words (word, place)),
       (extract(epoch from f.created_at) * 1000000)::bigint, (extract(epoch from f.run_at) * 1000000)::bigint,
       (extract(epoch from f.finished_at) * 1000000)::bigint, (extract(epoch from f.duration) * 1000000)::bigint,
       f.result, f.reason, f.discarded, f.error::text)";

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
           coalesce(sum(n) filter (where place = 'running'), 0) as running
    from (
        select 'ready' as place, queue, n::bigint from @schema@.ready
        union all
        select 'scheduled', queue, n from @schema@.scheduled
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
select ready, scheduled, running, succeeded, failed, canceled
from live, ended)";

constexpr std::string_view verify_sql = R"(
select id, places
from @schema@.verify()
order by id
limit 1000)";

/// The enumerator whose word this is, among those up to `last`.
template <class Enum>
Enum from_word(std::string_view word, Enum last, Enum otherwise) {
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        if (to_string(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
    }
    return otherwise;
}

JobInfo read_job(const Result& rows, std::size_t row) {
    JobInfo info;
    info.id = rows.int64(row, 0);
    info.kind = rows.string(row, 1);
    info.queue = rows.string(row, 2);
    info.priority = static_cast<Priority>(rows.int32(row, 3));
    info.state = from_word(rows.optional_text(row, 4).value_or("pending"), State::canceled, State::pending);
    info.attempts = rows.optional_int32(row, 5).value_or(0);
    info.max_retries = rows.optional_int32(row, 6);
    info.payload = rows.string(row, 7);
    if (!rows.is_null(row, 8)) info.tags = rows.text_array(row, 8);
    if (!rows.is_null(row, 9)) {
        auto words = rows.text_array(row, 9);
        for (std::size_t i = 0; i + 1 < words.size(); i += 2)
            info.params.emplace(std::move(words[i]), std::move(words[i + 1]));
    }
    info.created_at = rows.time(row, 10);
    info.run_at = rows.optional_time(row, 11);
    info.finished_at = rows.optional_time(row, 12);
    if (const auto duration = rows.optional_duration(row, 13)) info.duration = duration->microseconds();
    info.result = rows.optional_string(row, 14);
    info.reason = from_word(rows.optional_text(row, 15).value_or(""), Reason::payload, Reason::none);
    info.discarded = rows.boolean(row, 16);
    if (const auto error = rows.optional_text(row, 17)) info.error = error_from_json(*error);
    return info;
}

}  // namespace

LookVerbs::LookVerbs(std::string_view schema)
    : find_{"find", with_schema(std::string(found_columns) + std::string(find_from), schema)},
      search_{"", with_schema(std::string(found_columns) + std::string(search_from), schema)},
      counts_{"counts", with_schema(counts_sql, schema)},
      verify_{"", with_schema(verify_sql, schema)} {}

std::optional<JobInfo> LookVerbs::find(Connection& connection, JobId id) const {
    const Result rows = connection.run(find_, Params{}.add(id));
    if (rows.empty()) return std::nullopt;
    return read_job(rows, 0);
}

std::vector<JobInfo> LookVerbs::search(Connection& connection, const Search& wanted) const {
    std::optional<std::string_view> state;
    if (wanted.state) state = to_string(*wanted.state);
    const Result rows = connection.run(search_, Params{}.add(wanted.kind).add(wanted.queue).add(wanted.tag).add(state));
    std::vector<JobInfo> found;
    found.reserve(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) found.push_back(read_job(rows, row));
    return found;
}

JobCounts LookVerbs::counts(Connection& connection, std::optional<std::string_view> queue) const {
    const Result rows = connection.run(counts_, Params{}.add(queue));
    return {.ready = rows.int64(0, 0),
            .scheduled = rows.int64(0, 1),
            .running = rows.int64(0, 2),
            .succeeded = rows.int64(0, 3),
            .failed = rows.int64(0, 4),
            .canceled = rows.int64(0, 5)};
}

std::vector<Misplaced> LookVerbs::verify(Connection& connection) const {
    const Result rows = connection.run(verify_);
    std::vector<Misplaced> misplaced;
    for (std::size_t row = 0; row < rows.size(); ++row)
        misplaced.push_back({rows.int64(row, 0), rows.text_array(row, 1)});
    return misplaced;
}

}  // namespace pawl::store::pg
