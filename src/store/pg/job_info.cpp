#include "store/pg/job_info.hpp"

#include <string>
#include <utility>

#include "model/error_json.hpp"
#include "model/names.hpp"

namespace pawl::store::pg {

const std::string_view job_info_columns = R"(
select f.id, f.kind, f.queue, f.level, f.state::text, f.attempts, f.max_retries, f.payload, f.tags,
       (select array_agg(word order by pair.key, place) from jsonb_each_text(f.params) pair
        cross join lateral unnest(array[pair.key, pair.value]) with ordinality words (word, place)),
       (extract(epoch from f.created_at) * 1000000)::bigint, (extract(epoch from f.run_at) * 1000000)::bigint,
       (extract(epoch from f.finished_at) * 1000000)::bigint, (extract(epoch from f.duration) * 1000000)::bigint,
       f.result, f.reason, f.discarded, f.error::text)";

JobInfo read_job_info(const Result& rows, std::size_t row) {
    JobInfo info;
    info.id = rows.int64(row, 0);
    info.kind = rows.string(row, 1);
    info.queue = rows.string(row, 2);
    info.priority = static_cast<Priority>(rows.int32(row, 3));
    info.state = model::parse_state(rows.optional_text(row, 4).value_or("")).value_or(State::pending);
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
    info.reason = model::parse_reason(rows.optional_text(row, 15).value_or("")).value_or(Reason::none);
    info.discarded = rows.boolean(row, 16);
    if (const auto error = rows.optional_text(row, 17)) info.error = model::error_from_json(*error);
    return info;
}

}  // namespace pawl::store::pg
