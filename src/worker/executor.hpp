#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <pawl/clock.hpp>
#include <pawl/failure.hpp>
#include <pawl/fwd.hpp>
#include <pawl/handler.hpp>

#include "model/outcome.hpp"
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

/// Runs one handler once.
///
/// **Threads**: called concurrently from worker threads.
/// **Lifetime**: what `Parts` refers to outlives the last run, also that of an abandoned thread.
class Executor {
public:
    /// Describes what a handler threw; never throws itself.
    using Capture = std::function<std::shared_ptr<const Failure>(std::exception_ptr thrown, const model::ClaimedJob& job,
                                                                 std::optional<Time> started_at, Time failed_at)>;

    struct Parts {
        std::shared_ptr<Watchdog> watchdog;
        Capture capture;
        std::shared_ptr<const Clock> clock;
        std::shared_ptr<spdlog::logger> logger;
        /// A larger result is replaced by a marker.
        std::size_t max_result = 64 * 1024;
    };

    /// Takes the outcome of a handler that ended its thread (pthread_exit, cancellation), while the thread unwinds.
    using OnThreadExit = std::function<void(model::Outcome)>;

    explicit Executor(Parts parts) : parts_(std::move(parts)) {}

    /// What the run came to. Whatever a handler throws, and whatever else it does that C++ lets one survive, is an outcome,
    /// with one exception: when it ends its thread, the outcome goes to `on_thread_exit` and the unwinding goes on.
    ///
    /// A result above the limit is not stored but noted, as `{"pawl":"result too large","bytes":n}`: the work is done.
    [[nodiscard]] model::Outcome execute(const detail::Invoker& handler, const std::shared_ptr<StopState>& run,
                                         const RunLimits& limits, const OnThreadExit& on_thread_exit) const;

private:
    const Parts parts_;
};

/// The outcome of a run whose handler did not come back in time; for `PoolCalls::settle_overdue`.
[[nodiscard]] model::Outcome overdue(const Executor::Parts& parts, const StopState& run);

}  // namespace pawl::worker
