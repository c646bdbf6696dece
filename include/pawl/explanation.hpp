#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <pawl/backoff.hpp>
#include <pawl/error_record.hpp>
#include <pawl/export.hpp>
#include <pawl/job.hpp>

namespace pawl {

/// Of which job, and of which of its runs, `Scheduler::explain` speaks. Bounds and meanings are those of `JobBuilder`.
struct ExplainOptions {
    /// Which run failed: 1, the default, is the first.
    int attempt{1};
    /// How often the job has lost its worker before.
    int crashes{0};
    /// How often each `retry_on` rule has matched before, by its key.
    std::map<std::string, int> rule_counts{};
    /// The hard limit ended the run, and the error is what the handler threw because of it; null when it threw nothing.
    bool timed_out{false};
    std::string queue{"default"};
    std::string payload{"{}"};
    /// What the job was enqueued with; none: what its kind, or else the scheduler, says.
    std::optional<int> max_retries{};
    std::optional<Backoff> backoff{};
};

/// What would become of a job after a run.
struct Explanation {
    std::string kind;
    int attempt{};
    /// Where the job would stand: pending (a retry, a snooze, given back), failed or canceled.
    State becomes{State::pending};
    /// Failed, and in no dead letters.
    bool discarded{};
    Reason reason{Reason::none};
    /// The row of the table of decisions that spoke: its number and name.
    std::string row;
    /// The rule, plan or policy that spoke; empty when none did.
    std::string rule;
    std::string detail;
    /// Whether the run would count as a failed attempt.
    bool counted{};
    /// Whether it would be charged to the crash budget.
    bool crashed{};
    /// Until the job is due again, as it was drawn; none where it is not to run again.
    std::optional<std::chrono::microseconds> delay;
    /// What jitter added to the delay; negative where it shortened it.
    std::chrono::microseconds jitter{};
    /// Where the job would go on, when a rule or the handler names it.
    std::optional<std::string> queue;
    std::optional<Priority> priority;
    /// The error as it would be stored: its class, its causes, its secrets replaced. None for what is no failure.
    std::optional<ErrorRecord> error;
    /// The scheduler would take no more jobs.
    bool stops_pool{};
    /// Which code of the user's threw or returned nonsense, and what was used instead.
    std::vector<std::string> misbehaving;
};

/// A few lines for people.
[[nodiscard]] PAWL_EXPORT std::string to_string(const Explanation& explanation);

}  // namespace pawl
