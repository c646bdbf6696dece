#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/classification.hpp>
#include <pawl/clock.hpp>
#include <pawl/error_sanitizer.hpp>
#include <pawl/retry_policy.hpp>
#include <pawl/rules.hpp>

#include "failure/budget.hpp"
#include "model/claimed_job.hpp"
#include "model/decision.hpp"
#include "model/outcome.hpp"

namespace pawl::failure {

/// Everything that has a say about the failures of one kind. Made once per kind when a scheduler starts.
struct FailurePolicy {
    /// The kind's own, its base set included.
    Rules rules;
    /// Null: DefaultRetryPolicy.
    std::shared_ptr<const RetryPolicy> retry_policy;
    /// Null: DefaultErrorSanitizer.
    std::shared_ptr<const ErrorSanitizer> sanitizer;
    /// Null: what is built in. Captures of this kind's failures use the same.
    std::shared_ptr<const Classification> classification;
    /// For jobs that were enqueued without their own.
    int max_retries{4};
    Backoff backoff;
    /// Losses of its worker that a job survives.
    int crash_budget{3};
    /// Never run again by itself after a run has begun.
    bool non_idempotent{};
    PermanentErrors permanent_errors{PermanentErrors::dead_letter};
    /// Null: retries are not bounded.
    std::shared_ptr<Budget> budget{};
};

/// User code that threw or returned nonsense, and what was used instead. Texts are sanitized.
struct Misbehavior {
    std::string where;
    std::string what;
};

/// A callback that the decision owes to its kind.
struct OwedHook {
    std::string where;
    FailureCallback call;
    Failure failure;
};

/// What a decision leaves to be told and called.
struct Notes {
    std::vector<Misbehavior> misbehaving_policies;
    std::vector<Misbehavior> misbehaving_hooks;
    /// In the order in which they are to run; see run_hooks.
    std::vector<OwedHook> hooks;
    /// The class is unknown and the attempts are used up.
    bool poison_or_bug{};
    /// What decided: the number and name of a row of the table; empty for a run that ended well or was given back.
    std::string_view row;
    /// The hard time limit ended the run.
    bool timed_out{};
};

/// The one place that chooses between retry and dead letter; see the table in table.cpp.
///
/// Calls policies, strategies and waits, and contains what they throw or return; calls no callbacks, so that it can be
/// asked what would happen. It has no other effect than its result and the notes.
///
/// **Threads**: on the worker thread that ran the handler, or, for a lost run, on the node loop.
[[nodiscard]] model::Decision decide(const model::ClaimedJob& job, const model::Outcome& outcome,
                                     const FailurePolicy& policy, RandomSource& random, Notes& notes);

/// Runs the callbacks that a decision owes, in order, and notes those that throw.
///
/// **Threads**: on the worker thread that ran the handler; without a live exception on any.
void run_hooks(Notes& notes);

}  // namespace pawl::failure
