#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <variant>

#include <pawl/circuit_breaker.hpp>

#include "base/mutex.hpp"
#include "failure/decide.hpp"

namespace pawl::failure {

/// What a run says about the service that it called.
enum class CallResult : unsigned char {
    good,
    bad,
    silent,  ///< nothing: it gives its permit back
};

/// The law of a circuit breaker, on a clock that is given to it.
///
/// Closed it lets everything through and looks at the last calls; when enough of them failed it opens. Once that time is
/// over it is half open and lets trials through: when all of them were good it closes, with an empty window; at the first
/// bad one it opens anew. What a call says counts only in the period in which it was let through, for a late answer tells
/// nothing about now.
///
/// **Threads**: safe from any thread.
class Breaker {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    using Now = std::function<SteadyTime()>;
    /// Told of each change, in their order: it runs under the breaker's lock, so it must not come back to the breaker.
    using OnChange = std::function<void(BreakerState)>;

    /// Lets one call through, and is to be given back by `ended`.
    struct Permit {
        std::uint64_t period{};
    };
    /// Not let through; worth another look after this.
    struct Wait {
        std::chrono::microseconds time{};
    };

    /// **Throws** `ConfigError` naming the field.
    Breaker(std::string service, BreakerOptions options, Now now = std::chrono::steady_clock::now);
    Breaker(const Breaker&) = delete;
    Breaker& operator=(const Breaker&) = delete;
    ~Breaker() = default;

    /// False when it belongs to a scheduler already: its changes are told to one.
    [[nodiscard]] bool adopt() noexcept { return !adopted_.exchange(true, std::memory_order_acq_rel); }
    void on_change(OnChange call) PAWL_EXCLUDES(mutex_);

    [[nodiscard]] const std::string& service() const noexcept { return service_; }
    [[nodiscard]] const BreakerOptions& options() const noexcept { return options_; }

    [[nodiscard]] std::variant<Permit, Wait> admit() PAWL_EXCLUDES(mutex_);
    void ended(Permit permit, CallResult result) PAWL_EXCLUDES(mutex_);

    void open() PAWL_EXCLUDES(mutex_);
    void close() PAWL_EXCLUDES(mutex_);

    [[nodiscard]] BreakerState state() const PAWL_EXCLUDES(mutex_);
    [[nodiscard]] std::chrono::microseconds remaining() const PAWL_EXCLUDES(mutex_);
    [[nodiscard]] CircuitBreaker::Calls calls() const PAWL_EXCLUDES(mutex_);

private:
    void enter(BreakerState state) PAWL_REQUIRES(mutex_);
    void remember(bool bad) PAWL_REQUIRES(mutex_);
    [[nodiscard]] bool too_many_failed() const PAWL_REQUIRES(mutex_);
    [[nodiscard]] std::chrono::microseconds left() const PAWL_REQUIRES(mutex_);

    const std::string service_;
    const BreakerOptions options_;
    const Now now_;

    std::atomic<bool> adopted_{false};

    mutable base::Mutex mutex_;
    OnChange on_change_ PAWL_GUARDED_BY(mutex_);
    BreakerState state_ PAWL_GUARDED_BY(mutex_) = BreakerState::closed;
    /// Grows with every change of state.
    std::uint64_t period_ PAWL_GUARDED_BY(mutex_) = 0;
    SteadyTime open_until_ PAWL_GUARDED_BY(mutex_);
    /// Of the last calls, oldest first: whether each was bad.
    std::deque<bool> window_ PAWL_GUARDED_BY(mutex_);
    int bad_ PAWL_GUARDED_BY(mutex_) = 0;
    int trials_out_ PAWL_GUARDED_BY(mutex_) = 0;
    int trials_good_ PAWL_GUARDED_BY(mutex_) = 0;
};

/// What a run's outcome says about its service, by what was decided about it. Only what a handler did says anything: that
/// it came back is good, an error or a time-out is bad unless the service did answer with it; snoozes, interruptions,
/// losses and the like are silent.
[[nodiscard]] CallResult call_result(const model::Outcome& outcome, const model::Decision& decision,
                                     const BreakerOptions& options, Notes& notes);

}  // namespace pawl::failure
