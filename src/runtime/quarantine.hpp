#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include "base/mutex.hpp"
#include "runtime/claim_ledger.hpp"
#include "runtime/job_flow.hpp"
#include "runtime/publisher.hpp"
#include "store/store.hpp"
#include "worker/pool.hpp"

namespace pawl::runtime {

/// Runs suspects: jobs that were there when a process was lost, more than once. One of them at a time, and with nothing else
/// beside it, so that the next loss tells whether it was this one.
///
/// It is claimed first, so that one node alone of a queue empties itself for it. As much time as suspects took is then
/// given to the other jobs; and what does not end within a patience, which grows, is not waited for any longer.
///
/// **Threads**: `occupied` and `take` are confined to the claim loop's thread, `claim` as well; the rest is safe from any thread.
class Quarantine {
public:
    struct Parts {
        std::shared_ptr<store::Store> store;
        std::shared_ptr<const JobFlow> flow;
        std::shared_ptr<worker::Pool> pool;
        std::shared_ptr<ClaimLedger> ledger;
        std::shared_ptr<const Publisher> publisher;
    };
    using SteadyTime = std::chrono::steady_clock::time_point;

    explicit Quarantine(Parts parts);

    /// True while a suspect waits or runs here, and nothing else may be claimed. Lets it run once it is alone.
    [[nodiscard]] bool occupied(SteadyTime now);
    /// Whether the other jobs have had their time.
    [[nodiscard]] bool may_take(SteadyTime now) const noexcept { return now >= rest_until_; }
    /// Claims a suspect and keeps it until it is alone here; false when there is none to be had.
    bool take(std::span<const int> queues, std::span<const int> kinds, SteadyTime now);

    /// Claims one and enters it into the ledger; null when there is none to be had.
    [[nodiscard]] worker::Job claim(std::span<const int> queues, std::span<const int> kinds);

    /// Takes out the suspect of this claim if it has not begun; null when it has, or is not here.
    [[nodiscard]] worker::Job take_back(ClaimToken token);
    /// Gives back what has not begun.
    void give_back(std::string_view why);

private:
    [[nodiscard]] worker::Job take_waiting();
    void leave(SteadyTime now);

    const Parts parts_;
    /// Of the suspect that waits or runs here; zero without one.
    ClaimToken token_ = 0;
    SteadyTime since_{};
    SteadyTime rest_until_{};
    std::chrono::nanoseconds patience_;

    base::Mutex mutex_;
    worker::Job waiting_ PAWL_GUARDED_BY(mutex_);
};

}  // namespace pawl::runtime
