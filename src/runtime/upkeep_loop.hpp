#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/log.hpp"
#include "base/loop.hpp"
#include "runtime/claim_ledger.hpp"
#include "runtime/job_flow.hpp"

namespace pawl::runtime {

/// What every node does for all of them: takes over what lost nodes held, makes scheduled work ready when it is due, and
/// makes room for new ids. It depends on no row or lock that a dying node could leave behind.
///
/// **Threads**: `step` is confined to one thread.
class UpkeepLoop {
public:
    struct Parts {
        std::shared_ptr<store::Store> store;
        std::shared_ptr<JobFlow> flow;
        std::shared_ptr<const Kinds> kinds;
        std::shared_ptr<ClaimLedger> ledger;
        std::shared_ptr<const Publisher> publisher;
        std::shared_ptr<const base::Log> log;
        std::function<bool()> may_expire_others;
        std::chrono::nanoseconds poll_floor{};
        std::chrono::nanoseconds rescue_every{};
        std::chrono::nanoseconds share_every{};
        store::Retention retention;
        /// The queues that are served here.
        std::vector<std::string> queues;
        /// Whether it can be told of new scheduled work.
        bool listen{true};
    };

    explicit UpkeepLoop(Parts parts) : parts_(std::move(parts)) {}

    base::Loop::Wait step(const std::stop_token& stop);

    /// As ClaimLoop's. Safe from any thread.
    void announce_anew() noexcept { announce_anew_.store(true, std::memory_order_release); }
    /// A queue was paused, or halted. Safe from any thread.
    void look_at_queues() noexcept { look_at_queues_.store(true, std::memory_order_release); }
    /// Those of ours that a dead letter has halted, as they were seen last. Safe from any thread.
    [[nodiscard]] std::vector<std::string> halted_queues() const PAWL_EXCLUDES(halted_mutex_);

private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    void rescue(const std::stop_token& stop);
    /// One round, entered into the ledger.
    [[nodiscard]] store::Rescued take_over();
    [[nodiscard]] std::optional<std::chrono::microseconds> promote(const std::stop_token& stop);
    void make_room();
    /// Tells the other nodes of the retries granted here, and hears of theirs; when the next time is.
    [[nodiscard]] SteadyTime share_retry_loads();
    /// One window of ended jobs; when the next is due.
    [[nodiscard]] SteadyTime purge();

    const Parts parts_;
    SteadyTime next_rescue_{};
    SteadyTime next_room_{};
    SteadyTime next_purge_{};
    SteadyTime next_share_{};
    JobId purged_to_ = 0;
    /// When scheduled work was last said to be looked after.
    std::optional<SteadyTime> announced_{};
    store::NodeId announced_by_ = 0;
    std::atomic<bool> announce_anew_{false};

    void see_queues();
    SteadyTime next_queues_{};
    std::atomic<bool> look_at_queues_{false};
    mutable base::Mutex halted_mutex_;
    std::vector<std::string> halted_ PAWL_GUARDED_BY(halted_mutex_);
};

}  // namespace pawl::runtime
