#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <pawl/errors.hpp>
#include <pawl/stop_report.hpp>

#include "base/log.hpp"
#include "base/loop.hpp"
#include "runtime/claim_ledger.hpp"
#include "runtime/job_flow.hpp"

namespace pawl::runtime {

/// Writes decided runs, one batch at a time: while a statement is under way the next outcomes gather. No timer: an idle
/// scheduler settles at once, a busy one in batches.
///
/// A batch whose fate is in doubt is sent again, the very same under the same number, until the database has said what
/// became of it. A batch that is refused is cut in halves until the run that cannot be written is found; that one is
/// reduced to what can be.
///
/// **Threads**: `step` is confined to one thread; the rest is safe from any thread.
class SettleLoop {
public:
    struct Parts {
        std::shared_ptr<JobFlow> flow;
        std::shared_ptr<SettleQueue> queue;
        std::shared_ptr<ClaimLedger> ledger;
        std::shared_ptr<const Publisher> publisher;
        std::shared_ptr<const base::Log> log;
        /// A fatal type was settled: the pool is to stop.
        std::function<void()> on_fatal;
        /// A dead letter paused its queue.
        std::function<void(int queue)> on_halted;
    };

    explicit SettleLoop(Parts parts) : parts_(std::move(parts)) {}

    /// Throws what the store throws; the next step goes on with the same batch.
    base::Loop::Wait step(const std::stop_token& stop);

    /// Numbers up to here have been answered: their marks may go.
    [[nodiscard]] std::int64_t answered() const noexcept { return answered_.load(std::memory_order_relaxed); }
    /// Nothing is queued, nothing is under way.
    [[nodiscard]] bool idle() const noexcept { return !busy_.load(std::memory_order_acquire) && parts_.queue->empty(); }

    /// From now on, what becomes of each run is noted.
    void begin_report() noexcept { reporting_.store(true, std::memory_order_release); }
    /// What was noted, and what could not be written. Once the loop has stopped.
    [[nodiscard]] std::vector<StopReport::Job> report();

private:
    /// What one statement takes at most.
    static constexpr std::size_t most = 512;

    void number(std::vector<Decided> decided);
    void refuse(const StoreError& error);
    void answered(const Batch& batch);

    const Parts parts_;
    std::int64_t last_seq_ = 0;
    /// The first is the one under way.
    std::deque<Batch> batches_;
    std::atomic<std::int64_t> answered_{0};
    std::atomic<bool> busy_{false};
    std::atomic<bool> reporting_{false};
    std::vector<StopReport::Job> report_;
};

}  // namespace pawl::runtime
