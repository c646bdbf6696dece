#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

// Clang's -Wthread-safety reads these; other compilers see nothing.
#if defined(__clang__)
#define PAWL_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PAWL_THREAD_ANNOTATION(x)
#endif

#define PAWL_CAPABILITY(name) PAWL_THREAD_ANNOTATION(capability(name))
#define PAWL_SCOPED_CAPABILITY PAWL_THREAD_ANNOTATION(scoped_lockable)
#define PAWL_GUARDED_BY(mutex) PAWL_THREAD_ANNOTATION(guarded_by(mutex))
#define PAWL_PT_GUARDED_BY(mutex) PAWL_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define PAWL_REQUIRES(...) PAWL_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define PAWL_EXCLUDES(...) PAWL_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define PAWL_ACQUIRE(...) PAWL_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define PAWL_TRY_ACQUIRE(...) PAWL_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define PAWL_RELEASE(...) PAWL_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define PAWL_ACQUIRED_BEFORE(...) PAWL_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define PAWL_ACQUIRED_AFTER(...) PAWL_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
#define PAWL_RETURN_CAPABILITY(mutex) PAWL_THREAD_ANNOTATION(lock_returned(mutex))
#define PAWL_NO_THREAD_SAFETY_ANALYSIS PAWL_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace pawl::base {

/// A std::mutex that the compiler knows: members say `PAWL_GUARDED_BY(mutex_)`, functions that want it
/// held say `PAWL_REQUIRES(mutex_)`.
///
/// **Threads**: safe from any thread.
class PAWL_CAPABILITY("mutex") Mutex {
public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void lock() PAWL_ACQUIRE() { mutex_.lock(); }
    bool try_lock() PAWL_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
    void unlock() PAWL_RELEASE() { mutex_.unlock(); }

private:
    std::mutex mutex_;
};

/// Holds a Mutex for a scope; may be let go and taken again within it.
///
/// **Threads**: confined to one thread.
class PAWL_SCOPED_CAPABILITY MutexLock {
public:
    explicit MutexLock(Mutex& mutex) PAWL_ACQUIRE(mutex) : mutex_{mutex} { mutex_.lock(); }
    ~MutexLock() PAWL_RELEASE() {
        if (held_) mutex_.unlock();
    }
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

    void lock() PAWL_ACQUIRE() {
        mutex_.lock();
        held_ = true;
    }
    void unlock() PAWL_RELEASE() {
        held_ = false;
        mutex_.unlock();
    }

private:
    Mutex& mutex_;
    bool held_ = true;
};

/// A condition variable over a Mutex. Waits name the mutex, not the lock, so that the analysis can see that
/// it is held; every wait may wake for no reason, so the caller loops on what it waits for:
///
///     MutexLock lock{mutex_};
///     while (queue_.empty() && !stop.stop_requested()) changed_.wait(mutex_, stop);
///
/// The forms with a predicate loop by themselves; the predicate runs with the mutex held
/// (`[this]() PAWL_REQUIRES(mutex_) { return !queue_.empty(); }`).
///
/// **Threads**: safe from any thread.
class CondVar {
public:
    using Clock = std::chrono::steady_clock;

    CondVar() = default;
    CondVar(const CondVar&) = delete;
    CondVar& operator=(const CondVar&) = delete;

    void notify_one() noexcept { condition_.notify_one(); }
    void notify_all() noexcept { condition_.notify_all(); }

    void wait(Mutex& mutex) PAWL_REQUIRES(mutex) { condition_.wait(mutex); }

    /// Waits until notified or until stop is requested; a stop that was requested before does not wait.
    void wait(Mutex& mutex, const std::stop_token& stop) PAWL_REQUIRES(mutex) { condition_.wait(mutex, stop, Once{}); }

    /// Waits until notified or until the time has come; false when the time has come.
    bool wait_until(Mutex& mutex, Clock::time_point until) PAWL_REQUIRES(mutex) {
        return condition_.wait_until(mutex, until) == std::cv_status::no_timeout;
    }

    /// Waits until notified, stopped, or until the time has come; false when the time has come.
    bool wait_until(Mutex& mutex, const std::stop_token& stop, Clock::time_point until) PAWL_REQUIRES(mutex) {
        condition_.wait_until(mutex, stop, until, Once{});
        return Clock::now() < until;
    }

    bool wait_for(Mutex& mutex, Clock::duration duration) PAWL_REQUIRES(mutex) {
        return wait_until(mutex, saturating_from_now(duration));
    }

    bool wait_for(Mutex& mutex, const std::stop_token& stop, Clock::duration duration) PAWL_REQUIRES(mutex) {
        return wait_until(mutex, stop, saturating_from_now(duration));
    }

    template <class Predicate>
    void wait(Mutex& mutex, Predicate predicate) PAWL_REQUIRES(mutex) PAWL_NO_THREAD_SAFETY_ANALYSIS {
        condition_.wait(mutex, std::move(predicate));
    }

    /// What the predicate says at the end: false when stop came first.
    template <class Predicate>
    bool wait(Mutex& mutex, const std::stop_token& stop, Predicate predicate)
        PAWL_REQUIRES(mutex) PAWL_NO_THREAD_SAFETY_ANALYSIS {
        return condition_.wait(mutex, stop, std::move(predicate));
    }

    /// What the predicate says at the end: false when the time came first.
    template <class Predicate>
    bool wait_until(Mutex& mutex, Clock::time_point until, Predicate predicate)
        PAWL_REQUIRES(mutex) PAWL_NO_THREAD_SAFETY_ANALYSIS {
        return condition_.wait_until(mutex, until, std::move(predicate));
    }

    /// What the predicate says at the end: false when the time or a stop came first.
    template <class Predicate>
    bool wait_until(Mutex& mutex, const std::stop_token& stop, Clock::time_point until, Predicate predicate)
        PAWL_REQUIRES(mutex) PAWL_NO_THREAD_SAFETY_ANALYSIS {
        return condition_.wait_until(mutex, stop, until, std::move(predicate));
    }

    template <class Predicate>
    bool wait_for(Mutex& mutex, Clock::duration duration, Predicate predicate)
        PAWL_REQUIRES(mutex) PAWL_NO_THREAD_SAFETY_ANALYSIS {
        return wait_until(mutex, saturating_from_now(duration), std::move(predicate));
    }

    template <class Predicate>
    bool wait_for(Mutex& mutex, const std::stop_token& stop, Clock::duration duration, Predicate predicate)
        PAWL_REQUIRES(mutex) PAWL_NO_THREAD_SAFETY_ANALYSIS {
        return wait_until(mutex, stop, saturating_from_now(duration), std::move(predicate));
    }

private:
    // The standard has stop-aware waits with a predicate only; this one is false at the first look and true
    // after the first waking, which makes of them a single wait.
    struct Once {
        bool looked = false;
        bool operator()() noexcept { return std::exchange(looked, true); }
    };

    // A wait "for ever" given as duration::max() must not wrap into the past.
    static Clock::time_point saturating_from_now(Clock::duration duration) {
        const auto now = Clock::now();
        return duration > Clock::time_point::max() - now ? Clock::time_point::max() : now + duration;
    }

    std::condition_variable_any condition_;
};

}  // namespace pawl::base
