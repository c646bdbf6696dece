#include "store/pg/enqueue.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include <pawl/errors.hpp>

#include "model/backoff_text.hpp"
#include "store/pg/spans.hpp"

namespace pawl::store::pg {
namespace {

constexpr std::int64_t ids_per_block = 100;

// $1 kind, $2 queue, $3 priority, $4 run_at, $5 delay, $6 payloads, $7 payload version, $8 max_retries, $9 timeout,
// $10 backoff, $11 tags, $12 params, $13 on_failure, $14 on_success, $15 id of the kind, $16 id of the queue. Times and
// spans are microseconds.
//
// Without a cast or an operator: those of a caller's session are found by its search_path.
constexpr std::string_view enqueue_sql =
    "select @schema@.enqueue_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";

Params params_of(const model::JobSpec& spec, std::span<const std::string> payloads, const NameIds& known = {}) {
    Params params;
    params.add(spec.kind).add(spec.queue).add(static_cast<int>(spec.priority));
    const Time* run_at = std::get_if<Time>(&spec.due);
    const Duration* delay = std::get_if<Duration>(&spec.due);
    params.add(run_at == nullptr ? std::optional<std::int64_t>{} : storable_time(*run_at));
    params.add(delay == nullptr ? std::optional<std::int64_t>{} : storable_span(delay->microseconds()));
    params.add(payloads).add(spec.payload_version).add(spec.max_retries);
    params.add(spec.timeout ? std::optional(storable_span(spec.timeout->microseconds())) : std::nullopt);
    params.add(spec.backoff ? std::optional(model::to_text(*spec.backoff)) : std::nullopt);
    if (spec.tags.empty()) {
        params.add_null();
    } else {
        params.add(spec.tags);
    }
    if (spec.params.empty()) {
        params.add_null();
    } else {
        params.add(nlohmann::json(spec.params).dump());
    }
    params.add(spec.on_failure).add(spec.on_success);
    params.add(known.kind).add(known.queue);
    return params;
}

/// How many of the payloads go into the next statement: at least one.
std::size_t next_chunk(std::span<const std::string> payloads) {
    std::size_t rows = 0;
    std::size_t bytes = 0;
    while (rows < std::min(payloads.size(), EnqueueVerbs::chunk_rows)) {
        bytes += payloads[rows].size();
        if (rows > 0 && bytes > EnqueueVerbs::chunk_bytes) break;
        ++rows;
    }
    return rows;
}

void append_ids(std::vector<JobId>& ids, const Result& rows, std::size_t count) {
    for (const std::int64_t first : rows.int64_array(0, 0)) {
        for (std::int64_t i = 0; i < ids_per_block && count > 0; ++i, --count) ids.push_back(first + i);
    }
}

template <class Session>
std::vector<JobId> enqueue_chunks(Session& session, const Statement& statement, const Enqueue& jobs,
                                  const NameIds& known = {}) {
    std::vector<JobId> ids;
    ids.reserve(jobs.payloads.size());
    auto rest = jobs.payloads;
    while (!rest.empty()) {
        const std::size_t count = next_chunk(rest);
        append_ids(ids, session.run(statement, params_of(jobs.spec, rest.first(count), known)), count);
        rest = rest.subspan(count);
    }
    return ids;
}

}  // namespace

EnqueueVerbs::EnqueueVerbs(std::string_view schema) : enqueue_{"enqueue", with_schema(enqueue_sql, schema)} {}

std::vector<JobId> EnqueueVerbs::enqueue(Connection& connection, const Enqueue& jobs) const {
    if (next_chunk(jobs.payloads) == jobs.payloads.size()) return enqueue_chunks(connection, enqueue_, jobs);
    Transaction transaction(connection);
    std::vector<JobId> ids = enqueue_chunks(transaction, enqueue_, jobs);
    transaction.commit();
    return ids;
}

std::vector<JobId> EnqueueVerbs::enqueue(CallerTransaction& transaction, const Enqueue& jobs,
                                         const NameIds& known) const {
    return enqueue_chunks(transaction, enqueue_, jobs, known);
}

PlainStatement EnqueueVerbs::statement(const Enqueue& jobs) const {
    if (next_chunk(jobs.payloads) != jobs.payloads.size()) {
        throw ConfigError("payloads", "are more than one statement takes (1000 jobs, 8 MiB)");
    }
    return {.sql = enqueue_.sql, .params = params_of(jobs.spec, jobs.payloads).values()};
}

}  // namespace pawl::store::pg
