#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include <pawl/clock.hpp>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/thread.hpp"

namespace pawl::base {

/// How long to wait after the n-th failure in a row: doubling from `first` to `cap`, half of it jittered.
class FailureWait {
public:
    using Length = std::chrono::nanoseconds;

    FailureWait(Length first, Length cap) noexcept : first_(first), cap_(cap) {}

    /// `uniform` is in [0, 1). The wait is between half and the whole of the present step.
    [[nodiscard]] Length next(double uniform) noexcept;
    void reset() noexcept { failures_ = 0; }

private:
    Length first_;
    Length cap_;
    int failures_ = 0;
};

/// What a failure of a step says about the world.
enum class FailureCause : unsigned char { other, connection, schema };

/// A failed step, in sanitized words.
struct FailedStep {
    std::string text;
    FailureCause cause{FailureCause::other};
};

/// How a loop does.
struct LoopVitals {
    /// Steps in a row that threw; zero when the last one did not.
    int failures{};
    /// Of the last of them.
    std::string last_failure;
    FailureCause cause{FailureCause::other};
    /// How long the present step has taken so far; zero while it waits.
    std::chrono::nanoseconds in_step_for{};
};

struct LoopOptions {
    /// What the thread is called, and what log lines say.
    std::string name;
    std::chrono::nanoseconds first_failure_wait = std::chrono::milliseconds(100);
    std::chrono::nanoseconds failure_wait_cap = std::chrono::seconds(10);
    /// Told what the step threw, on the loop's thread. None: the log line has no text.
    std::function<FailedStep(const std::exception_ptr&)> on_failure;
};

/// One thread that runs a step again and again, and waits in between for as long as the step says.
///
/// A step that throws is logged and repeated after a jittered wait that doubles up to a cap; pokes do not shorten that
/// wait, only a stop does. The thread has the one catch-all of its service.
///
/// **Threads**: safe from any thread. `stop()` may be called from the step itself, which then is the last one.
/// **Lifetime**: the log and the random source outlive the loop. The destructor stops and waits for the step under way.
class Loop {
public:
    using Wait = std::chrono::nanoseconds;
    /// Returns how long to wait; zero or less: again at once. It gives up early when the token says so.
    using Step = std::function<Wait(const std::stop_token&)>;

    /// Waits for a poke only.
    static constexpr Wait until_poked = Wait::max();

    Loop(LoopOptions options, Step step, const Log& log, RandomSource& random);
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop();

    /// No thread before this. Once only; after stop() nothing is started.
    void start();

    /// Ends the present or the next wait. A poke during a step is kept.
    void poke() noexcept;

    /// Tells the step to end, without waiting for it.
    void request_stop() noexcept;

    /// Stops and waits for the step under way. Idempotent.
    void stop() noexcept;

    /// Runs a step that begins after this call, and waits until it is over and the loop waits again (also when it threw);
    /// false when the bound came first or the loop is stopped. For tests and orderly hand-overs.
    [[nodiscard]] bool run_step(std::chrono::nanoseconds bound);

    [[nodiscard]] LoopVitals vitals() const;
    [[nodiscard]] int failures() const { return vitals().failures; }

private:
    void run() noexcept;
    Wait take_step(FailureWait& failure_wait) noexcept;
    void rest(Wait wait, bool failed);

    const LoopOptions options_;
    const Step step_;
    const Log& log_;
    RandomSource& random_;
    std::stop_source stop_;

    mutable Mutex mutex_;
    CondVar changed_;
    bool poked_ PAWL_GUARDED_BY(mutex_) = false;
    bool stopped_ PAWL_GUARDED_BY(mutex_) = false;
    std::uint64_t begun_ PAWL_GUARDED_BY(mutex_) = 0;
    std::uint64_t ended_ PAWL_GUARDED_BY(mutex_) = 0;
    std::chrono::steady_clock::time_point begun_at_ PAWL_GUARDED_BY(mutex_);
    int failures_ PAWL_GUARDED_BY(mutex_) = 0;
    FailedStep last_failure_ PAWL_GUARDED_BY(mutex_);

    // Guards starting and joining, and is held while joining: never taken by the loop's own thread.
    Mutex thread_mutex_;
    std::atomic<std::thread::id> thread_id_{};
    Thread thread_ PAWL_GUARDED_BY(thread_mutex_);
};

}  // namespace pawl::base
