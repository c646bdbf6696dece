#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include <pawl/clock.hpp>
#include <pawl/export.hpp>
#include <pawl/job.hpp>

namespace pawl {

// What a handler may say about its own run. None of these is a std::exception, so that a handler's own
// `catch (const std::exception&)` lets them pass. They count only as what leaves the handler, not as causes of it.

/// Thrown or returned: run me again later, and do not count this run. A negative duration means now; the longest is 366
/// days.
struct PAWL_EXPORT Snooze {
    Duration delay;
};

/// Thrown or returned: end me as canceled. The reason is sanitized and stored.
struct PAWL_EXPORT Cancel {
    std::string reason;
};

/// Thrown: this run failed, and the next one is due after exactly this delay (at most 24 h, the backoff's cap
/// notwithstanding). The scheduler's policy and the job's limit of retries still apply; rules, marks and plans do not.
///
///     catch (const TooManyRequests& busy) { throw pawl::RetryAfter{.delay = busy.retry_after()}; }
struct PAWL_EXPORT RetryAfter {
    Duration delay;
    /// Where the job goes from now on. None: it stays.
    std::optional<std::string> queue{};
    std::optional<Priority> priority{};
    /// Filled by itself with the exception that is being handled.
    std::exception_ptr cause = std::current_exception();
};

/// Thrown: end me for good without a dead letter. The job is kept as failed and discarded.
struct PAWL_EXPORT Discard {
    std::string reason;
    /// Filled by itself with the exception that is being handled.
    std::exception_ptr cause = std::current_exception();
};

/// Thrown: this process can run no job any more. The job goes back uncounted, and the scheduler's pool stops.
struct PAWL_EXPORT WorkerFatal {
    std::string reason;
    /// Filled by itself with the exception that is being handled.
    std::exception_ptr cause = std::current_exception();
};

/// Thrown by `JobContext::throw_if_stopped()`: the run is over because its stop was requested, and is not counted. It is
/// bound to its attempt; out of another one it is an error like any other.
class PAWL_EXPORT Interrupted {
public:
    Interrupted(ClaimToken claim, JobId job) noexcept : claim_(claim), job_(job) {}

    [[nodiscard]] bool belongs_to(ClaimToken claim, JobId job) const noexcept { return claim_ == claim && job_ == job; }

private:
    ClaimToken claim_;
    JobId job_;
};

/// What a handler returns that either has a result or says one of the two things.
///
///     pawl::Reply<Receipt> charge(const ChargeCard& job);
template <class T = std::monostate>
using Reply = std::variant<T, Snooze, Cancel>;

/// Thrown by handlers for what no retry can heal: a dead letter at once, wherever it stands in the chain of causes.
class PAWL_EXPORT PermanentError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    PermanentError(const PermanentError&) = default;
    PermanentError& operator=(const PermanentError&) = default;
    ~PermanentError() override;
};

/// Thrown by handlers for what heals by itself.
class PAWL_EXPORT TransientError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    TransientError(const TransientError&) = default;
    TransientError& operator=(const TransientError&) = default;
    ~TransientError() override;
};

/// The hard time limit of a run has passed. What the handler threw because of it is its cause.
class PAWL_EXPORT TimedOut : public TransientError {
public:
    using TransientError::TransientError;
    TimedOut(const TimedOut&) = default;
    TimedOut& operator=(const TimedOut&) = default;
    ~TimedOut() override;
};

/// A stored payload could not be decoded; what the codec threw is its cause. Its class is unknown: another release may
/// decode it.
class PAWL_EXPORT PayloadError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    PayloadError(const PayloadError&) = default;
    PayloadError& operator=(const PayloadError&) = default;
    ~PayloadError() override;
};

/// A step of `JobContext::once` was begun by an earlier run, and nothing tells whether it was done: it is not run again. Not
/// caught by the handler, it makes the job a dead letter with reason `needs_person`.
class PAWL_EXPORT StepInDoubt : public std::runtime_error {
public:
    StepInDoubt(std::string_view step, ClaimToken begun_by);
    StepInDoubt(const StepInDoubt&) = default;
    StepInDoubt& operator=(const StepInDoubt&) = default;
    ~StepInDoubt() override;

    [[nodiscard]] const std::string& step() const noexcept { return step_; }
    /// The claim token of the run that began it, as outside systems may have been given it.
    [[nodiscard]] ClaimToken begun_by() const noexcept { return begun_by_; }

private:
    std::string step_;
    ClaimToken begun_by_;
};

/// A handler ended its thread, by `pthread_exit` or a cancellation.
class PAWL_EXPORT ThreadExited : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    ThreadExited(const ThreadExited&) = default;
    ThreadExited& operator=(const ThreadExited&) = default;
    ~ThreadExited() override;
};

}  // namespace pawl
