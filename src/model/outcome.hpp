#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include <pawl/clock.hpp>
#include <pawl/job.hpp>
#include <pawl/retry_policy.hpp>

namespace pawl::model {

/// The handler returned.
struct Done {
    /// JSON text, already bounded by max_result.
    std::optional<std::string> result;
};

/// The handler threw; the failure holds the live exception and stays on the worker's thread.
struct Threw {
    std::shared_ptr<const Failure> failure;
};

/// What a handler said about itself (thrown, or returned as a Reply).
struct SaidSnooze {
    Duration delay;
};
struct SaidCancel {
    std::string reason;
};
struct SaidDiscard {
    std::string reason;
    std::shared_ptr<const Failure> failure;
};
struct SaidRetryAfter {
    Duration delay;
    std::optional<std::string> queue;
    std::optional<Priority> priority;
    std::shared_ptr<const Failure> failure;
};
struct SaidWorkerFatal {
    std::shared_ptr<const Failure> failure;
};

/// The hard limit passed. The failure is of type pawl::TimedOut, with what the handler threw as its cause.
struct TimedOutRun {
    std::shared_ptr<const Failure> failure;
};

/// Given back without being charged: a stop, a fence, an open breaker, or it never started.
struct InterruptedRun {
    std::string why;
    /// Not due again before this has passed.
    std::chrono::microseconds delay{};
};

/// The node that ran it was lost.
struct LostRun {
    std::string node;
    /// It held no other job, so that it was this one, or nothing that a job did.
    bool alone{};
    /// The run is known to have begun: kinds that must not be run twice write that down before.
    bool begun{};
};

/// The payload could not be decoded, before the handler.
struct Undecodable {
    std::shared_ptr<const Failure> failure;
};

/// What one run of a handler came to.
struct Outcome {
    std::variant<Done, Threw, SaidSnooze, SaidCancel, SaidDiscard, SaidRetryAfter, SaidWorkerFatal, TimedOutRun,
                 InterruptedRun, LostRun, Undecodable>
        what;
    /// By the host's clock, for people. None when the handler never began.
    std::optional<Time> started_at{};
    std::chrono::microseconds duration{};
};

}  // namespace pawl::model
