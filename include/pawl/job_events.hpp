#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <pawl/clock.hpp>
#include <pawl/error_record.hpp>
#include <pawl/job.hpp>

namespace pawl {

/// What every event about a job carries.
struct JobEvent {
    /// By the wall clock of the host, for people.
    Time time{};
    /// The node that says it.
    std::int64_t node{};
    JobId id{};
    std::string kind;
    std::string queue;
    /// Which run it was: 1 on the first.
    int attempt{};
};

/// The handler is about to run.
struct JobStarted : JobEvent {
    ClaimToken claim_token{};
};

/// The handler succeeded, and that is written.
struct JobSucceeded : JobEvent {
    std::chrono::microseconds duration{};
    /// Bytes of the stored result; zero when there is none.
    std::size_t result_size{};
};

/// The run failed, and a retry is scheduled.
struct JobRetrying : JobEvent {
    ErrorRecord record;
    Reason reason{Reason::none};
    /// The rule, plan or policy that spoke; empty when it was the job's own backoff.
    std::string rule;
    /// Jitter included.
    std::chrono::microseconds delay{};
    Time run_at{};
};

/// The handler asked to be run again later; the run is not counted.
struct JobSnoozed : JobEvent {
    Time run_at{};
};

/// The job went back to pending without being charged: a stop, a fence, or a fatal type.
struct JobInterrupted : JobEvent {
    std::string why;
};

/// A run passed its soft limit and goes on.
struct JobSoftLimit : JobEvent {
    std::chrono::microseconds limit{};
    std::chrono::microseconds elapsed{};
};

/// A run passed its hard limit and is settled as such; followed by `JobRetrying` or `JobFailed`.
struct JobExecutionTimedOut : JobEvent {
    std::chrono::microseconds limit{};
    std::chrono::microseconds elapsed{};
};

/// What every event about a terminal failure carries.
struct JobFailureEvent : JobEvent {
    ErrorRecord record;
    Reason reason{Reason::none};
    /// Failed runs that were counted.
    int attempts{};
};

/// The job ended as `failed`. Followed by `JobDlq` or `JobDiscarded`.
struct JobFailed : JobFailureEvent {};

/// The job is a dead letter now.
struct JobDlq : JobFailureEvent {
    /// What to do about it; empty when its kind has no runbook.
    std::string runbook;
};

/// The job ended as `failed`, yet nobody needs to look at it.
struct JobDiscarded : JobFailureEvent {};

/// An error of unknown class used up all attempts: either this job is poison, or the handler has a bug.
struct PoisonOrBug : JobFailureEvent {};

/// What every event about an act on a job carries.
struct JobActEvent : JobEvent {
    std::string by;
    std::string why;
};

struct JobCanceled : JobActEvent {};
struct JobPaused : JobActEvent {};
struct JobResumed : JobActEvent {};

/// A failed job is pending again, with all its attempts.
struct JobRedriven : JobActEvent {};

/// The outcome of a run came after its claim was over, and was dropped.
struct StaleOutcome : JobEvent {
    ClaimToken claim_token{};
};

/// The job was taken from a lost node.
struct JobRescued : JobEvent {
    std::int64_t from_node{};
    /// It may be what took that node down.
    bool suspect{};
};

/// A policy, rule, strategy or backoff callable threw, or returned nonsense.
struct MisbehavingPolicy : JobEvent {
    std::string where;
    std::string used_instead;
};

/// A handler ignores its stop token; its thread is left to it and replaced.
struct ThreadAbandoned : JobEvent {
    std::chrono::microseconds elapsed{};
};

/// A handler whose thread had been abandoned came back.
struct ThreadReturned : JobEvent {
    std::chrono::microseconds elapsed{};
};

}  // namespace pawl
