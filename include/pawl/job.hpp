#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/error_record.hpp>
#include <pawl/export.hpp>

namespace pawl {

/// A job's identity in its schema: above zero, never used again, growing with the order of enqueueing. Ids have gaps.
using JobId = std::int64_t;

/// Names one claim of a batch of jobs. It only grows: whoever comes later holds a larger token, so that an outside
/// system that remembers the largest token it saw can refuse a late owner (a fencing token).
using ClaimToken = std::int64_t;

/// How urgent a job is among the due jobs of its queue.
///
/// Higher levels go first; waiting time counts as well, one level per ageing step, so that the lowest level is never starved.
enum class Priority : std::uint8_t { critical, high, normal, low, lowest };

[[nodiscard]] PAWL_EXPORT std::string_view to_string(Priority priority) noexcept;

/// Where a job stands in its life. Stored, shown and documented by the same words.
enum class State : std::uint8_t {
    pending,    ///< to be run, now or at its `run_at` (scheduled for later, retrying, snoozed)
    running,    ///< claimed by a node
    waiting,    ///< for a signal or a predecessor
    paused,     ///< held back by a person
    succeeded,  ///< terminal
    failed,     ///< terminal: a dead letter, or discarded
    canceled,   ///< terminal
};

[[nodiscard]] PAWL_EXPORT std::string_view to_string(State state) noexcept;

/// No transition leads out of a terminal state, but for a redrive of a failed job.
[[nodiscard]] constexpr bool terminal(State state) noexcept {
    return state == State::succeeded || state == State::failed || state == State::canceled;
}

/// Why a job ended as `failed`. A closed list; stored by these words.
enum class Reason : std::uint8_t {
    none,
    do_not_retry,
    permanent,
    discarded,
    policy,
    plan,
    rule_exhausted,
    exhausted,
    timed_out,
    worker_lost,
    needs_person,
    payload,
};

[[nodiscard]] PAWL_EXPORT std::string_view to_string(Reason reason) noexcept;

/// What the database knows about one job, at one moment.
struct JobInfo {
    JobId id{};
    std::string kind;
    std::string queue;
    Priority priority{Priority::normal};
    State state{State::pending};
    /// Failed runs that were counted, since it was enqueued or last redriven.
    int attempts{};
    /// As given when it was enqueued; none: the default of the node that runs it.
    std::optional<int> max_retries;
    /// JSON text as PostgreSQL's jsonb prints it.
    std::string payload;
    std::vector<std::string> tags;
    std::map<std::string, std::string> params;
    Time created_at{};
    /// When it is or was due; none once it is running or has ended.
    std::optional<Time> run_at;
    std::optional<Time> finished_at;
    /// How long the last run took; only for ended jobs that ran.
    std::optional<std::chrono::microseconds> duration;
    /// JSON text of what the handler returned; none when it returned nothing.
    std::optional<std::string> result;
    /// Why it ended as `failed`; `none` otherwise.
    Reason reason{Reason::none};
    bool discarded{};
    /// The sanitized error of a failed job.
    std::optional<ErrorRecord> error;
};

/// How many jobs stand where, over the whole schema or one queue, in one snapshot.
struct JobCounts {
    std::int64_t ready{};      ///< pending and due
    std::int64_t scheduled{};  ///< pending with a later `run_at`
    std::int64_t running{};
    std::int64_t paused{};
    std::int64_t succeeded{};
    std::int64_t failed{};  ///< dead letters and discarded ones
    std::int64_t canceled{};
};

}  // namespace pawl
