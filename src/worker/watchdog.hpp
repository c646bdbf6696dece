#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/log.hpp"
#include "base/thread.hpp"
#include "worker/stop_state.hpp"

namespace pawl::worker {

/// When a run is to be spoken to.
struct Deadlines {
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// At or after `hard_at`: no soft limit.
    SteadyTime soft_at{};
    SteadyTime hard_at{};
};

/// A run stays watched as long as this lives.
///
/// **Threads**: confined to one thread at a time.
/// **Lifetime**: may outlive the watchdog. A callback that has begun when it ends is not waited for.
class [[nodiscard("a run is watched as long as its Watch lives")]] Watch {
public:
    Watch() noexcept = default;
    Watch(Watch &&) noexcept = default;
    Watch& operator=(Watch&& other) noexcept;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();

private:
    friend class Watchdog;
    struct Entry;

    explicit Watch(std::shared_ptr<Entry> entry) noexcept;
    void end() noexcept;

    std::shared_ptr<Entry> entry_;
};

/// Watches the time limits of all runs, on one thread.
///
/// At the soft limit it says so; at the hard limit it requests the stop (`StopReason::hard_limit`); when the grace after
/// that is over as well and nobody has spoken for the run, it says that the run is overdue, and again after each further grace until
/// somebody has. Watching costs a push on a heap; its thread is woken only when the earliest deadline got earlier, and ended
/// watches are swept out in bulk.
///
/// **Threads**: safe from any thread; the callbacks are called on the watchdog's thread, without a lock, and must be short.
/// What they throw is logged.
class Watchdog {
public:
    using SteadyTime = Deadlines::SteadyTime;
    using Callback = std::function<void(const std::shared_ptr<StopState>&)>;

    struct Options {
        std::chrono::nanoseconds grace = std::chrono::seconds(10);
        Callback on_soft_limit{};
        Callback on_overdue{};
    };

    Watchdog(Options options, std::shared_ptr<const base::Log> log);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    /// Stops.
    ~Watchdog();

    /// No thread before this. Watching may begin earlier.
    void start();
    /// Waits for a callback under way, but not when called from one. Idempotent.
    void stop() noexcept;

    [[nodiscard]] Watch watch(std::shared_ptr<StopState> run, Deadlines deadlines);

    /// Entries kept, ended ones that were not swept yet included.
    [[nodiscard]] std::size_t size() const;

private:
    friend class Watch;
    class Core;

    std::shared_ptr<Core> core_;
    base::Thread thread_;
};

}  // namespace pawl::worker
