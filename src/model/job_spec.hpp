#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/job.hpp>
#include <pawl/retry_policy.hpp>

namespace pawl::model {

/// Everything about jobs that is said when they are enqueued, but for the payload.
struct JobSpec {
    std::string kind;
    std::string queue{"default"};
    Priority priority{Priority::normal};
    int payload_version{0};
    /// None: the default of the kind, or of the scheduler that runs it, counts at that time.
    std::optional<int> max_retries;
    std::optional<Backoff> backoff;
    /// None: as above. `no_timeout` is stored as the longest duration.
    std::optional<Duration> timeout;
    std::vector<std::string> tags;
    std::map<std::string, std::string> params;
    /// When it is due: now, after a delay counted by the database's clock, or at a point in time.
    std::variant<std::monostate, Duration, Time> due;
    /// Kinds of the jobs that follow.
    std::optional<std::string> on_failure;
    std::optional<std::string> on_success;
};

/// What bounds a spec and its payloads: from Options.
struct SpecLimits {
    std::size_t max_payload{100 * 1024};
};

/// Brings the spec into its stored form (tags trimmed, lower case, unique, sorted) and refuses what must not be stored.
///
/// **Throws** `ConfigError` naming the field.
void validate(JobSpec& spec);

/// **Throws** `ConfigError` for a payload that is too large, is not JSON with one meaning in valid UTF-8, or holds a NUL.
void validate_payload(std::string_view kind, std::string_view payload, const SpecLimits& limits);

/// The checks of single values, for options and handlers as well. `field` is what the error names.
void validate_kind(std::string_view kind, std::string_view field = "kind");
void validate_queue(std::string_view queue, std::string_view field = "queue");
void validate_priority(Priority priority, std::string_view field = "priority");
void validate_retries(int retries, std::string_view field = "max_retries");
void validate_timeout(Duration timeout, std::string_view field = "timeout");
void validate_delay(Duration delay, std::string_view field = "delay");
/// A backoff that can be stored: not a function.
void validate_stored_backoff(const Backoff& backoff, std::string_view field = "backoff");
void validate_params(const std::map<std::string, std::string>& params);

/// A span since the epoch as the time that a job is due at.
[[nodiscard]] Time due_time(Duration since_epoch, std::string_view field = "run_at");

/// Tags as they are stored.
[[nodiscard]] std::vector<std::string> normal_tags(std::vector<std::string> tags);

}  // namespace pawl::model
