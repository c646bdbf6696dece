#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <pawl/clock.hpp>
#include <pawl/failure.hpp>
#include <pawl/fwd.hpp>
#include <pawl/handler.hpp>

#include "model/outcome.hpp"
#include "worker/steps.hpp"
#include "worker/stop_state.hpp"
#include "worker/watchdog.hpp"

namespace pawl::worker {

/// What a job is run with: its own values where it has them, else its kind's, else the scheduler's.
struct RunLimits {
    int max_retries = 0;
    /// None: no limit.
    std::optional<std::chrono::nanoseconds> timeout{};
    /// The part of the time-out after which the soft limit is told; 1 and more: never.
    double soft_limit = 0.8;
};

/// What makes failures of what handlers throw: given by the runtime, for failure/capture is of the same rank. None of it throws,
/// and none returns null.
struct CaptureCalls {
    std::function<std::shared_ptr<const Failure>(std::exception_ptr thrown,
                                                 std::shared_ptr<const model::ClaimedJob> job,
                                                 std::optional<Time> started_at, Time failed_at)>
        capture;
    /// Of a run whose hard limit passed; `thrown` is what the handler threw because of it, or null.
    std::function<std::exception_ptr(Duration limit, const std::exception_ptr& thrown)> timed_out;
    /// Of a handler that ended its thread.
    std::function<std::exception_ptr()> thread_exited;
};

/// Runs one handler once.
///
/// **Threads**: called concurrently from worker threads.
/// **Lifetime**: shared with the threads that use it: it outlives the last run, also that of an abandoned thread.
class Executor {
public:
    struct Parts {
        std::shared_ptr<Watchdog> watchdog;
        CaptureCalls failures;
        std::shared_ptr<const Clock> clock;
        std::shared_ptr<spdlog::logger> logger;
        /// A larger result is replaced by a marker.
        std::size_t max_result = 64 * 1024;
        /// Null: handlers have no `once`.
        std::shared_ptr<Steps> steps{};
    };

    /// Takes the outcome of a handler that ended its thread (pthread_exit, cancellation), while the thread unwinds.
    using OnThreadExit = std::function<void(model::Outcome)>;

    explicit Executor(Parts parts) : parts_(std::move(parts)) {}

    /// What the run came to. Whatever a handler throws, and whatever else it does that C++ lets one survive, is an outcome,
    /// with one exception: when it ends its thread, the outcome goes to `on_thread_exit` and the unwinding goes on.
    ///
    /// A handler that came back although its stop was requested: hard limit: what it returned counts, what it threw is the cause of
    /// a `TimedOut`. Stopping, canceled or fenced: what it returned counts, if the claim is still there; what it threw is
    /// an interruption.
    ///
    /// A result above the limit is not stored but noted, as `{"pawl":"result too large","bytes":n}`: the work is done.
    [[nodiscard]] model::Outcome execute(const detail::Invoker& handler, const std::shared_ptr<StopState>& run,
                                         const RunLimits& limits, const OnThreadExit& on_thread_exit) const;

    /// The outcome of a run whose handler does not come back; for `PoolCalls::settle_overdue`.
    [[nodiscard]] model::Outcome overdue(const StopState& run, const RunLimits& limits) const;

private:
    class Attempt;

    const Parts parts_;
};

}  // namespace pawl::worker
