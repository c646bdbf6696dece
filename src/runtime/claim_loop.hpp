#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/loop.hpp"
#include "runtime/claim_ledger.hpp"
#include "runtime/claim_marks.hpp"
#include "runtime/job_flow.hpp"
#include "runtime/quarantine.hpp"
#include "worker/pool.hpp"

namespace pawl::runtime {

/// Keeps the workers supplied: claims as many due jobs as there are free slots, plus what the workers will have done
/// before the next claim is back; says that it sleeps when there are none, and looks again.
///
/// **Threads**: `step` and `claim` are confined to one thread; the rest is safe from any thread.
class ClaimLoop {
public:
    struct Queue {
        std::string name;
        int id{};
        int concurrency{1};
    };

    struct Parts {
        std::vector<Queue> queues;
        std::vector<int> kinds;
        std::shared_ptr<store::Store> store;
        std::shared_ptr<JobFlow> flow;
        std::shared_ptr<worker::Pool> pool;
        std::shared_ptr<ClaimLedger> ledger;
        std::shared_ptr<Quarantine> quarantine;
        std::shared_ptr<const Lease> lease;
        std::shared_ptr<const Publisher> publisher;
        std::shared_ptr<RandomSource> random;
        int claim_limit{512};
        std::chrono::nanoseconds prefetch_target{};
        std::chrono::nanoseconds poll_floor{};
    };

    explicit ClaimLoop(Parts parts);

    base::Loop::Wait step(const std::stop_token& stop);

    /// Something may have changed that only a look from the start shows.
    void expect_more() noexcept { look_through_.store(true, std::memory_order_release); }
    /// The listening connection is new: the server may have restarted, and a crash empties the table of sleepers.
    void announce_anew() noexcept { announce_anew_.store(true, std::memory_order_release); }
    /// True while nothing was found due: then it waits to be told, and a free thread is no news.
    [[nodiscard]] bool asleep() const noexcept { return asleep_.load(std::memory_order_acquire); }
    /// No more claims from now on.
    void close();
    [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// Empty for a queue that is not served here.
    [[nodiscard]] std::string_view name_of(int queue) const;

    /// The next claim looks from the start. On the thread of `claim`.
    void forget_marks() { marks_.forget(); }
    /// One claim for the given rooms, entered into the ledger.
    [[nodiscard]] store::Claimed claim(const std::vector<store::QueueRoom>& rooms);
    /// Of the queues that are served here.
    [[nodiscard]] std::vector<int> queue_ids() const;

private:
    struct QueueState {
        Queue queue;
        /// Claimed work lay here too long: none is claimed ahead until a thread is free again.
        bool stalled{};
    };

    [[nodiscard]] std::vector<store::QueueRoom> rooms();
    /// Jobs whose former run was given up and still goes on here: another node may run their retry, this one must not yet.
    [[nodiscard]] std::vector<JobId> given_up_here() const;
    [[nodiscard]] int prefetch(const worker::Load& load) const;
    void give_back_stale_prefetch();
    void hand_out(store::Claimed& claimed);
    [[nodiscard]] bool take_suspect();
    [[nodiscard]] base::Loop::Wait sleep(const store::Claimed& looked, bool looked_through);
    void wake();

    const Parts parts_;
    std::vector<QueueState> queues_;
    /// Of the last claim, in bytes.
    std::size_t mean_payload_ = 0;
    std::size_t first_queue_ = 0;
    ClaimMarks marks_;
    std::atomic<bool> look_through_{true};
    std::atomic<bool> announce_anew_{false};
    std::atomic<bool> closed_{false};
    std::atomic<bool> asleep_{false};

    /// The node under which sleep was announced; zero when awake.
    store::NodeId announced_ = 0;
    std::uint64_t first_later_writer_ = 0;
    base::Loop::Wait nap_{};
    bool waits_for_return_ = false;
};

}  // namespace pawl::runtime
