#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/thread.hpp"
#include "worker/pool.hpp"

namespace pawl::worker {

/// The threads of one queue, and the jobs that wait for one: one lock, taken once per run. Pool says what each verb means.
///
/// **Threads**: safe from any thread.
/// **Lifetime**: its threads share it, so that an abandoned one finds it still there.
class QueueWorkers : public std::enable_shared_from_this<QueueWorkers> {
public:
    using SteadyTime = StopState::SteadyTime;

    QueueWorkers(QueueWidth width, PoolCalls calls, int max_abandoned, std::shared_ptr<const base::Log> log);
    QueueWorkers(const QueueWorkers&) = delete;
    QueueWorkers& operator=(const QueueWorkers&) = delete;
    ~QueueWorkers() = default;

    /// **Throws** std::system_error when there is no thread to be had.
    void start();
    bool push(const std::vector<Job>& jobs);
    Load load() const;
    void set_prefetch(int jobs);
    void tell_capacity_anew();

    /// What has not begun and was pushed until then.
    std::vector<Job> take_back_pushed_until(SteadyTime time);
    Job take_back(ClaimToken token, JobId id);
    std::vector<Job> take_back_claim(ClaimToken token);

    std::vector<RunningJob> running() const;
    bool runs_on_this_thread() const;
    void abandon(const std::shared_ptr<StopState>& run);

    std::vector<Job> close();
    bool wait_idle(SteadyTime until) const;
    std::vector<RunningJob> finish(SteadyTime until);

private:
    using Run = std::shared_ptr<StopState>;

    /// A place for one thread, and what that runs.
    struct Slot {
        base::Thread thread{};
        Run run{};
        std::thread::id runner{};
        /// False while nobody takes jobs here: before the start, at the end, and when the thread was left to a handler and
        /// too many had been before.
        bool serving = false;
    };
    struct Unstarted {
        Job job;
        SteadyTime pushed;
    };
    struct Abandoned {
        base::Thread thread;
        Run run;
    };
    /// What a thread knows of itself.
    struct Worker {
        QueueWorkers& queue;
        std::size_t slot;
        /// To be settled before anything else.
        Run overdue;
        /// What it runs.
        Run run{};
        /// Nothing is left to do but to return. Still false at its end: the handler ended the thread.
        bool left = false;

        ~Worker() { queue.leave(*this); }
    };

    void serve(Worker& worker) PAWL_EXCLUDES(mutex_);
    Run take(Worker& worker) PAWL_EXCLUDES(mutex_);
    bool stays(Worker& worker) PAWL_EXCLUDES(mutex_);
    void leave(Worker& worker) noexcept PAWL_EXCLUDES(mutex_);

    Run begin_next(std::size_t slot, SteadyTime now) PAWL_REQUIRES(mutex_);
    /// False when it was abandoned meanwhile, and its slot belongs to another thread.
    bool end_run(std::size_t slot, const Run& run, SteadyTime now) PAWL_REQUIRES(mutex_);
    void come_back(Worker& worker, const Run& run) PAWL_REQUIRES(mutex_);
    bool is_held_back(JobId id) const PAWL_REQUIRES(mutex_);
    bool is_idle() const PAWL_REQUIRES(mutex_);
    bool tells_capacity() PAWL_REQUIRES(mutex_);
    void stop_serving(Slot& slot) PAWL_REQUIRES(mutex_);

    /// How many threads may serve; fewer than the queue's width once too many were abandoned.
    int allowed_width() const PAWL_REQUIRES(mutex_);

    base::Thread thread_for(std::size_t slot, Run overdue);
    void join_ended() PAWL_EXCLUDES(mutex_);

    /// What it throws is logged; a forced unwinding passes.
    template <class... Args>
    void call(const std::function<void(Args...)>& function, const char* what, std::type_identity_t<Args>... args) const;

    const QueueWidth width_;
    const PoolCalls calls_;
    const int max_abandoned_;
    const std::shared_ptr<const base::Log> log_;

    mutable base::Mutex mutex_;
    mutable base::CondVar work_;
    mutable base::CondVar idle_;
    std::vector<Slot> slots_ PAWL_GUARDED_BY(mutex_);
    std::deque<Unstarted> unstarted_ PAWL_GUARDED_BY(mutex_);
    std::vector<Abandoned> abandoned_ PAWL_GUARDED_BY(mutex_);
    /// Threads that have come to their end, to be joined by whoever comes along.
    std::vector<base::Thread> ended_ PAWL_GUARDED_BY(mutex_);
    int serving_ PAWL_GUARDED_BY(mutex_) = 0;
    int running_ PAWL_GUARDED_BY(mutex_) = 0;
    int sleeping_ PAWL_GUARDED_BY(mutex_) = 0;
    int prefetch_ PAWL_GUARDED_BY(mutex_) = 0;
    bool capacity_told_ PAWL_GUARDED_BY(mutex_) = false;
    bool closed_ PAWL_GUARDED_BY(mutex_) = false;
    /// finish() has taken the handles of all threads: from now on they just end.
    bool finished_ PAWL_GUARDED_BY(mutex_) = false;
    std::optional<std::chrono::nanoseconds> mean_run_ PAWL_GUARDED_BY(mutex_);
};

}  // namespace pawl::worker
