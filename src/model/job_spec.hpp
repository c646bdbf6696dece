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
};

/// What bounds a spec and its payloads: from Options.
struct SpecLimits {
    std::size_t max_payload{100 * 1024};
};

/// Brings the spec into its stored form (tags trimmed, lower case, unique, sorted) and refuses what must not be stored.
///
/// **Throws** `ConfigError` naming the field.
void validate(JobSpec& spec);

/// **Throws** `ConfigError` for a payload that is too large, not valid UTF-8, or holds a NUL.
void validate_payload(std::string_view kind, std::string_view payload, const SpecLimits& limits);

/// The checks of single names, for options and handlers as well. `field` is what the error names.
void validate_kind(std::string_view kind, std::string_view field = "kind");
void validate_queue(std::string_view queue, std::string_view field = "queue");

}  // namespace pawl::model
