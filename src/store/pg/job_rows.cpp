#include "store/pg/job_rows.hpp"

#include <charconv>
#include <utility>

#include "store/pg/spans.hpp"

namespace pawl::store::pg {

const std::string_view job_columns = R"(
    item.token, item.position, item.id, item.queue, item.kind, item.priority, item.attempts, item.crashes, item.suspect,
    (extract(epoch from item.run_at) * 1000000)::bigint,
    (extract(epoch from job.created_at) * 1000000)::bigint,
    job.payload::text,
    job.payload_version,
    job.max_retries,
    (extract(epoch from job.timeout) * 1000000)::bigint,
    job.backoff,
    job.tags,
    case when job.params is not null then
        (select array_agg(word order by pair.key, place) from jsonb_each_text(job.params) pair
         cross join lateral unnest(array[pair.key, pair.value]) with ordinality words (word, place)) end,
    case when item.attempts > 0 then
        (select array_agg(word order by tally.rule, place)
         from (select a.rule, count(*) as times from @schema@.attempt a
               where a.id = item.id and a.rule is not null and a.counted and not a.redriven group by a.rule) tally
         cross join lateral unnest(array[tally.rule, tally.times::text]) with ordinality words (word, place)) end)";

namespace {

int to_int(const std::string& text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::shared_ptr<const model::ClaimedJob> read_job(const Result& rows, std::size_t row, int column, model::NodeId node,
                                                  Names& names, Connection& connection) {
    auto job = std::make_shared<model::ClaimedJob>();
    job->node = node;
    job->slot.token = rows.int64(row, column);
    job->slot.position = rows.int32(row, column + 1);
    job->slot.id = rows.int64(row, column + 2);
    job->facts.queue = rows.int32(row, column + 3);
    job->facts.kind = rows.int32(row, column + 4);
    job->facts.priority = static_cast<Priority>(rows.int32(row, column + 5));
    job->facts.attempts = rows.int32(row, column + 6);
    job->facts.crashes = rows.int32(row, column + 7);
    job->facts.suspect = rows.boolean(row, column + 8);
    job->run_at = rows.optional_time(row, column + 9).value_or(Time{});
    job->created_at = rows.optional_time(row, column + 10).value_or(Time{});
    job->kind = names.kind(connection, job->facts.kind);
    job->queue = names.queue(connection, job->facts.queue);
    job->payload = rows.optional_string(row, column + 11).value_or(std::string{});
    job->payload_version = rows.optional_int32(row, column + 12).value_or(0);
    job->max_retries = rows.optional_int32(row, column + 13);
    job->timeout = rows.optional_duration(row, column + 14);
    if (job->timeout && job->timeout->microseconds() >= longest_span) job->timeout = no_timeout;
    job->backoff = rows.optional_string(row, column + 15);
    if (!rows.is_null(row, column + 16)) job->tags = rows.text_array(row, column + 16);
    if (!rows.is_null(row, column + 17)) {
        auto words = rows.text_array(row, column + 17);
        for (std::size_t i = 0; i + 1 < words.size(); i += 2)
            job->params.emplace(std::move(words[i]), std::move(words[i + 1]));
    }
    if (!rows.is_null(row, column + 18)) {
        auto words = rows.text_array(row, column + 18);
        for (std::size_t i = 0; i + 1 < words.size(); i += 2)
            job->rule_counts.emplace(std::move(words[i]), to_int(words[i + 1]));
    }
    return job;
}

}  // namespace

std::vector<std::shared_ptr<const model::ClaimedJob>> read_jobs(const Result& rows, int first, model::NodeId node,
                                                                Names& names, Connection& connection) {
    std::vector<std::shared_ptr<const model::ClaimedJob>> jobs;
    jobs.reserve(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (rows.is_null(row, first + 2)) continue;
        jobs.push_back(read_job(rows, row, first, node, names, connection));
    }
    return jobs;
}

}  // namespace pawl::store::pg
