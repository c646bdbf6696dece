#include "api/validate_options.hpp"

#include <chrono>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <pawl/errors.hpp>

#include "base/utf8.hpp"
#include "model/acts.hpp"
#include "model/job_spec.hpp"

namespace pawl::api {

namespace {

using namespace std::chrono_literals;
using Span = std::chrono::microseconds;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

template <class Number>
void require_range(std::string_view field, Number value, Number least, Number most) {
    if (value < least || value > most) {
        throw ConfigError(field, fmt::format("is {}; it must be from {} to {}", value, least, most));
    }
}

void require_span(std::string_view field, Duration value, Span least, Span most, std::string_view range) {
    if (!value.valid()) throw ConfigError(field, "is not a number");
    if (value < Duration(least) || value > Duration(most)) throw ConfigError(field, fmt::format("must be {}", range));
}

void require_visible(std::string_view field, std::string_view text) {
    if (base::find_invalid_utf8(text) != std::string_view::npos) throw ConfigError(field, "is not valid UTF-8");
    if (base::find_control(text) != std::string_view::npos) throw ConfigError(field, "holds a control character");
}

void validate_queues(const std::vector<QueueOptions>& queues) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        const std::string field = fmt::format("queues[{}]", i);
        model::validate_queue(queues[i].name, field + ".name");
        require_range(field + ".concurrency", queues[i].concurrency, 0, 10'000);
        model::validate_runbook(queues[i].runbook, field + ".runbook");
        if (!names.insert(queues[i].name).second) throw ConfigError(field + ".name", "occurs twice");
    }
}

void validate_node(const Options& options) {
    require_span("heartbeat", options.heartbeat, 100ms, 8h, "from 100 ms to 8 h");
    require_span("node_expiry", options.node_expiry, 300ms, 24h, "from 300 ms to a day");
    if (options.node_expiry.count() / 3 < options.heartbeat.count()) {
        throw ConfigError("node_expiry", "must be at least 3 heartbeats, or a node that is late once counts as dead");
    }
    if (options.poll_floor) require_span("poll_floor", *options.poll_floor, 10ms, 1h, "from 10 ms to 1 h");
    require_range("claim_limit", options.claim_limit, 1, 1024);
    require_span("prefetch_target", options.prefetch_target, 0s, 1s, "from zero to 1 s");
    require_span("reconnect.longest", options.reconnect.longest, 1ms, 10min, "from 1 ms to 10 min");
    require_span("reconnect.first", options.reconnect.first, 1ms, 10min, "from 1 ms to 10 min");
    if (options.reconnect.first > options.reconnect.longest) {
        throw ConfigError("reconnect.first", "must not be above reconnect.longest");
    }
}

void validate_limits(const Options& options) {
    model::validate_timeout(options.default_timeout, "default_timeout");
    // Written so that what is not a number is refused as well.
    if (!(options.soft_limit > 0.0 && options.soft_limit <= 1.0)) {
        throw ConfigError("soft_limit", "must be above 0 and at most 1");
    }
    require_span("timeout_grace", options.timeout_grace, 0s, 1h, "from zero to 1 h");
    require_range("max_abandoned_threads", options.max_abandoned_threads, 0, 10'000);
    validate_graces(options.stop_grace, options.hard_grace);
    require_range<std::size_t>("max_payload", options.max_payload, 2, 64 * mebibyte);
    require_range<std::size_t>("max_result", options.max_result, 0, 64 * mebibyte);
    model::validate_retries(options.max_retries);
    require_range("crash_budget", options.crash_budget, 1, 100);
    require_range<std::size_t>("event_queue", options.event_queue, 1, 10'000'000);
}

void validate_retry_budget(const RetryBudget& budget) {
    if (!(budget.ratio >= 0.0 && budget.ratio <= 100.0)) {
        throw ConfigError("retry_budget.ratio", "must be from 0 to 100");
    }
    require_range("retry_budget.at_least", budget.at_least, 1, 1'000'000);
    require_span("retry_budget.longest_delay", budget.longest_delay, 1s, 24h, "from 1 s to 24 h");
}

void validate_retention(std::string_view field, const std::optional<Duration>& kept) {
    if (kept) model::validate_delay(*kept, field);
}

}  // namespace

void validate_graces(Duration grace, Duration hard_grace) {
    require_span("stop_grace", grace, 0s, 24h, "from zero to a day");
    require_span("hard_grace", hard_grace, 0s, 24h, "from zero to a day");
}

void validate(const Options& options) {
    if (options.connection.find('\0') != std::string::npos) throw ConfigError("connection", "holds a NUL");
    require_range<std::size_t>("schema", options.schema.size(), 1, 63);
    require_visible("schema", options.schema);
    validate_queues(options.queues);
    validate_node(options);
    validate_limits(options);
    if (options.behind_pooler && options.listen) {
        throw ConfigError("listen", "does not work behind a pooler in transaction mode: set it to false");
    }
    if (options.retry_budget) validate_retry_budget(*options.retry_budget);
    if (options.permanent_errors > PermanentErrors::failed_only) {
        throw ConfigError("permanent_errors", "is none of the values of pawl::PermanentErrors");
    }
    validate_retention("retention.succeeded", options.retention.succeeded);
    validate_retention("retention.canceled", options.retention.canceled);
    validate_retention("retention.failed", options.retention.failed);
}

}  // namespace pawl::api
