#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "worker/stop_state.hpp"

namespace pawl::worker {

class QueueWorkers;

/// A claimed job that waits for a thread, or has one.
using Job = std::shared_ptr<const model::ClaimedJob>;

struct QueueWidth {
    std::string name;
    int concurrency = 1;
};

/// What a pool calls. All of it is called without a lock.
///
/// **Lifetime**: a thread that is abandoned calls `run`'s rest, and then nothing more, after the pool is gone: these own what they
/// touch by shared pointers, but never the pool itself.
struct PoolCalls {
    /// The whole life of one run, on a worker's thread. It must not throw: what it throws is logged and lost.
    std::function<void(const std::shared_ptr<StopState>&)> run;
    /// Settles a run whose handler does not come back, on a worker's thread; the verdict has been claimed for it.
    std::function<void(const std::shared_ptr<StopState>&)> settle_overdue{};
    /// There is room for more jobs of this queue. Said once, and again only after the next push; on a worker's thread.
    std::function<void(const std::string& queue)> on_capacity{};
    /// A thread was left to its handler; on the thread that called `abandon`.
    std::function<void(const StopState&)> on_abandoned{};
    /// Such a handler came back; on its own thread.
    std::function<void(const StopState&)> on_returned{};
};

struct PoolOptions {
    std::vector<QueueWidth> queues;
    PoolCalls calls;
    /// Abandoned threads that are replaced, per queue; above it a queue loses width with each.
    int max_abandoned = 4;
    /// How long the destructor waits for handlers that still run.
    std::chrono::nanoseconds last_grace = std::chrono::seconds(10);
};

/// How much one queue of the pool has to do, at one moment.
struct Load {
    /// Threads that serve; less than the concurrency once too many were abandoned.
    int width = 0;
    int running = 0;
    /// Jobs that have not begun.
    int unstarted = 0;
    /// Handlers that were given up and still run.
    int abandoned = 0;
    /// Of the recent runs; none before the first.
    std::optional<std::chrono::nanoseconds> mean_run;

    [[nodiscard]] int free_slots() const noexcept {
        return width > running + unstarted ? width - running - unstarted : 0;
    }
};

/// A run whose handler has not come back.
struct RunningJob {
    std::shared_ptr<StopState> run;
    /// It was settled as timed out, and its thread replaced.
    bool abandoned = false;
};

/// The worker threads of all queues, and the claimed jobs that wait for one.
///
/// A job that was pushed is either run or taken back, never both. Stopping goes in phases, so that their caller can
/// write in between what each hands back: `close` · release those · `wait_idle` · `request_stop` · `finish`.
///
/// **Threads**: safe from any thread, from the calls above too; a run that stops its own pool is not waited for.
class Pool {
public:
    using SteadyTime = StopState::SteadyTime;

    Pool(PoolOptions options, std::shared_ptr<const base::Log> log);
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    /// As all phases of stopping in a row, without a grace but `last_grace`.
    ~Pool();

    /// No thread before this. Jobs may be pushed earlier.
    /// **Throws** std::system_error when there are not enough threads; those that were started end.
    void start();

    /// Hands jobs of one queue to its threads, first in first out. False when the pool is closed or has no such queue: then
    /// they are left to the caller. A job whose earlier run was abandoned and still runs waits for its end.
    [[nodiscard]] bool push(std::string_view queue, const std::vector<Job>& jobs);

    /// None for a queue that is not served here.
    [[nodiscard]] std::optional<Load> load(std::string_view queue) const;
    [[nodiscard]] std::vector<std::string> queues() const;

    /// How many jobs of a queue are to wait here beyond those that run: capacity is told when half of them are gone.
    /// Zero at first: told when a thread is free and nothing waits.
    void set_prefetch(std::string_view queue, int jobs);
    /// Capacity is told once until jobs are pushed; a claimer that looks at the load and then claims nothing has to ask for
    /// being told once more, before it looks.
    void tell_capacity_anew(std::string_view queue);

    /// Takes out what has not begun and waits at least this long, oldest first.
    [[nodiscard]] std::vector<Job> take_back_unstarted(std::string_view queue, std::chrono::nanoseconds older_than);
    [[nodiscard]] std::vector<Job> take_back_unstarted(std::chrono::nanoseconds older_than = {});
    /// Takes out this one of a claim; none when it has begun or is not here.
    [[nodiscard]] Job take_back_unstarted(ClaimToken token, JobId id);
    /// Takes out what has not begun of one claim.
    [[nodiscard]] std::vector<Job> take_back_claim(ClaimToken token);

    [[nodiscard]] std::vector<RunningJob> running() const;
    /// Whether the calling thread is one of the pool's and runs a handler right now.
    [[nodiscard]] bool runs_on_this_thread() const;

    /// Asks one run to stop, or all of them; how many it was new to.
    int request_stop(ClaimToken token, JobId id, StopReason reason);
    int request_stop(StopReason reason);

    /// Leaves a thread to the handler that does not come back: settles the run from another thread, which then takes its
    /// place. Nothing happens when the run is over or was abandoned already.
    void abandon(const std::shared_ptr<StopState>& run);

    /// No more pushes; hands back everything that has not begun.
    [[nodiscard]] std::vector<Job> close();

    /// Waits until nothing runs and nothing waits, apart from the calling thread's own run and abandoned ones; false when the
    /// time came first.
    [[nodiscard]] bool wait_idle(SteadyTime until) const;

    /// Closes, waits for the threads, and leaves those that do not end in time to their handlers; names these.
    /// What has not begun and was not handed back by `close` is dropped. Idempotent: a second call finds nothing.
    [[nodiscard]] std::vector<RunningJob> finish(SteadyTime until);

private:
    [[nodiscard]] QueueWorkers* find(std::string_view queue) const noexcept;

    const std::chrono::nanoseconds last_grace_;
    // Fixed once made, so that finding a queue needs no lock.
    std::map<std::string, std::shared_ptr<QueueWorkers>, std::less<>> queues_;
};

}  // namespace pawl::worker
