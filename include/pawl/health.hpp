#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/export.hpp>

namespace pawl {

/// What is wrong with a scheduler. docs/operations.md says of each what it means and what to do.
enum class HealthReason : std::uint8_t {
    database_unreachable,  ///< no connection to it can be had
    not_claiming,          ///< no jobs are taken: claiming fails, hangs, or was ended by a fatal error
    not_settling,          ///< outcomes cannot be written
    heartbeat_late,        ///< three heartbeats have failed or hang
    fenced,                ///< no heartbeat got through for the expiry time: handlers are stopped
    listener_lost,         ///< degraded: work is found by looking every `poll_floor`
    threads_abandoned,     ///< more handlers hang than are replaced, or some still ran when `stop()` gave up
    queue_halted,          ///< degraded: a dead letter halted a queue that is served here
    schema_mismatch,       ///< statements do not fit the schema: it was changed, or belongs to another release
    stopping,              ///< `stop()` was called
};

[[nodiscard]] PAWL_EXPORT std::string_view to_string(HealthReason reason) noexcept;

/// Whether a reason leaves the scheduler ready: jobs are run, if later or not of every queue.
[[nodiscard]] PAWL_EXPORT bool degraded_only(HealthReason reason) noexcept;

struct HealthProblem {
    HealthReason reason{};
    /// For people: since when, what failed, in sanitized words.
    std::string text;
};

/// How a scheduler does, for probes of an orchestrator and for people.
struct Health {
    /// False when only a new process helps: threads are lost to handlers that do not end.
    bool live{true};
    /// It has started, and takes and writes jobs.
    bool ready{false};
    /// In the order of HealthReason, each at most once. Empty when all is well, and before `start()`.
    std::vector<HealthProblem> problems{};

    [[nodiscard]] bool has(HealthReason reason) const noexcept {
        for (const HealthProblem& problem : problems) {
            if (problem.reason == reason) return true;
        }
        return false;
    }
};

}  // namespace pawl
