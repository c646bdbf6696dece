#pragma once

#include <optional>
#include <string>

#include <pawl/failure.hpp>

#include "failure/decide.hpp"

namespace pawl::failure {

/// One counted or countable failure on its way through the rows of the table.
struct Case {
    const model::ClaimedJob& job;
    const FailurePolicy& policy;
    RandomSource& random;
    Notes& notes;
    const Failure& failure;
    /// The handler asked for this delay itself.
    const model::SaidRetryAfter* retry_after{};
    bool undecodable{};
    bool timed_out{};

    // What the rows have found on the way.
    const detail::Rule* rule{};
    /// The error or the cause that the rule matched.
    std::optional<Failure> matched{};
    /// The rule's own count of failures, this one included.
    int rule_count{};
    std::optional<RetryPlan> plan{};

    /// Failures that are counted, this one included: the number of the run.
    [[nodiscard]] int attempts() const noexcept;
};

/// A row that applies decides; one that does not says nothing.
using Row = std::optional<model::Decision> (*)(Case&);

// The rows of the table in table.cpp, by what they check.
std::optional<model::Decision> fatal_type(Case& c);
std::optional<model::Decision> non_idempotent(Case& c);
std::optional<model::Decision> step_in_doubt(Case& c);
std::optional<model::Decision> discard_rule(Case& c);
std::optional<model::Decision> do_not_retry(Case& c);
std::optional<model::Decision> retry_rule(Case& c);
std::optional<model::Decision> permanent_class(Case& c);
std::optional<model::Decision> kind_strategy(Case& c);
std::optional<model::Decision> global_policy(Case& c);
std::optional<model::Decision> attempts_used_up(Case& c);

/// The last row: when the job is tried again.
[[nodiscard]] model::Decision retry_after_delay(Case& c);

/// The job's own backoff, or that of its kind, before its n-th retry; never fails.
[[nodiscard]] Backoff::Draw own_backoff(const model::ClaimedJob& job, const FailurePolicy& policy, RandomSource& random,
                                        Notes& notes, int n);

/// A queue that a handler named, unless no queue can be called so.
[[nodiscard]] std::optional<std::string> sensible_queue(const std::optional<std::string>& queue, Notes& notes);

[[nodiscard]] model::Decision terminal(model::Verdict verdict, Reason reason, bool counted);

}  // namespace pawl::failure
