#include "store/pg/job_rows.hpp"

#include <charconv>
#include <utility>

#include "store/pg/spans.hpp"

namespace pawl::store::pg {

const std::string_view job_columns = R"(
    item.token, item.position, item.id, item.head, job.payload::text,
    case when item.attempts > 0 then
        (select array_agg(word order by tally.rule, place)
         from (select a.rule, count(*) as times from @schema@.attempt a
               where a.id = item.id and a.rule is not null and a.counted and not a.redriven group by a.rule) tally
         cross join lateral unnest(array[tally.rule, tally.times::text]) with ordinality words (word, place)) end,
    case when item.head then item.queue end,
    case when item.head then item.kind end,
    case when item.head then item.priority end,
    case when item.head then item.attempts end,
    case when item.head then item.crashes end,
    case when item.head then item.losses end,
    case when item.head then (extract(epoch from item.run_at) * 1000000)::bigint end,
    case when item.head then (extract(epoch from job.created_at) * 1000000)::bigint end,
    case when item.head then job.payload_version end,
    case when item.head then job.max_retries end,
    case when item.head then (extract(epoch from job.timeout) * 1000000)::bigint end,
    case when item.head then job.backoff end,
    case when item.head then job.tags end,
    case when item.head and job.params is not null then
        (select array_agg(word order by pair.key, place) from jsonb_each_text(job.params) pair
         cross join lateral unnest(array[pair.key, pair.value]) with ordinality words (word, place)) end,
    case when item.head then job.on_failure end,
    case when item.head then job.on_success end)";

namespace {

int to_int(const std::string& text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// What the head of a range says for all of it.
void read_head(model::ClaimedJob& job, const Result& rows, std::size_t row, int column, Names& names,
               Connection& connection) {
    job.facts.queue = rows.int32(row, column);
    job.facts.kind = rows.int32(row, column + 1);
    job.facts.priority = static_cast<Priority>(rows.int32(row, column + 2));
    job.facts.attempts = rows.int32(row, column + 3);
    job.facts.crashes = rows.int32(row, column + 4);
    job.facts.losses = rows.int32(row, column + 5);
    job.run_at = rows.optional_time(row, column + 6).value_or(Time{});
    job.created_at = rows.optional_time(row, column + 7).value_or(Time{});
    job.kind = names.kind(connection, job.facts.kind);
    job.queue = names.queue(connection, job.facts.queue);
    job.payload_version = rows.optional_int32(row, column + 8).value_or(0);
    job.max_retries = rows.optional_int32(row, column + 9);
    job.timeout = rows.optional_duration(row, column + 10);
    if (job.timeout && job.timeout->microseconds() >= longest_span) job.timeout = no_timeout;
    job.backoff = rows.optional_string(row, column + 11);
    if (!rows.is_null(row, column + 12)) job.tags = rows.text_array(row, column + 12);
    if (!rows.is_null(row, column + 13)) {
        auto words = rows.text_array(row, column + 13);
        for (std::size_t i = 0; i + 1 < words.size(); i += 2)
            job.params.emplace(std::move(words[i]), std::move(words[i + 1]));
    }
    job.on_failure = rows.optional_string(row, column + 14);
    job.on_success = rows.optional_string(row, column + 15);
}

std::shared_ptr<const model::ClaimedJob> read_job(const Result& rows, std::size_t row, int column, model::NodeId node,
                                                  const model::ClaimedJob* before, Names& names,
                                                  Connection& connection) {
    const bool head = before == nullptr || rows.boolean(row, column + 3);
    auto job = head ? std::make_shared<model::ClaimedJob>() : std::make_shared<model::ClaimedJob>(*before);
    if (head) read_head(*job, rows, row, column + 6, names, connection);
    job->node = node;
    job->slot.token = rows.int64(row, column);
    job->slot.position = rows.int32(row, column + 1);
    job->slot.id = rows.int64(row, column + 2);
    job->payload = rows.optional_string(row, column + 4).value_or(std::string{});
    job->rule_counts.clear();
    if (!rows.is_null(row, column + 5)) {
        auto words = rows.text_array(row, column + 5);
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
        const model::ClaimedJob* const before = jobs.empty() ? nullptr : jobs.back().get();
        jobs.push_back(read_job(rows, row, first, node, before, names, connection));
    }
    return jobs;
}

}  // namespace pawl::store::pg
