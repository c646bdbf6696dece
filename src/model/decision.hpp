#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <pawl/error_record.hpp>
#include <pawl/job.hpp>

namespace pawl::model {

/// Where a job goes after a run. Each is one legal transition out of `running`.
enum class Verdict : std::uint8_t { complete, retry_at, dead_letter, discard, snooze, release, cancel };

[[nodiscard]] std::string_view to_string(Verdict verdict) noexcept;

/// What is to become of a job: made by failure::decide, written by settle, and by nobody else.
struct Decision {
    Verdict verdict{Verdict::complete};
    /// Whether this run counts as a failed attempt.
    bool counted{};
    /// Whether this run is charged to the crash budget.
    bool crashed{};
    /// Its worker was lost, and nobody knows by which of the jobs that it held.
    bool lost_in_company{};
    Reason reason{Reason::none};
    /// The rule, plan or policy that spoke; empty when none did. For a retry_on rule, its key.
    std::string rule;
    /// A text that goes with the reason: the trait's, or what the handler gave.
    std::string detail;
    /// For retry_at, snooze and release, jitter included; counted from the database's clock at the settle.
    std::chrono::microseconds delay{};
    /// What jitter added to the delay; negative where it shortened it.
    std::chrono::microseconds jitter{};
    /// Overrides that stay for later attempts.
    std::optional<std::string> queue;
    std::optional<Priority> priority;
    std::optional<std::string> result;
    /// For every outcome that carries an error.
    std::optional<ErrorRecord> error;
    /// The pool of this scheduler is to stop (WorkerFatal).
    bool stop_pool{};
};

}  // namespace pawl::model
