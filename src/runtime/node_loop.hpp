#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/loop.hpp"
#include "runtime/claim_ledger.hpp"
#include "runtime/job_flow.hpp"
#include "runtime/quarantine.hpp"
#include "runtime/settle_loop.hpp"
#include "worker/pool.hpp"

namespace pawl::runtime {

/// The life of this node: it registers, says that it lives, compares its claims with the database, and fences itself when
/// it could not say so for too long. Its thread and its connection do nothing else, so that nothing can starve it.
///
/// **Threads**: `register_node` before the threads start and `pulse` are confined to one thread; `guard_lease` to another.
class NodeLoop {
public:
    struct Parts {
        std::shared_ptr<store::Store> store;
        std::shared_ptr<JobFlow> flow;
        std::shared_ptr<worker::Pool> pool;
        std::shared_ptr<ClaimLedger> ledger;
        std::shared_ptr<Quarantine> quarantine;
        std::shared_ptr<const SettleLoop> settle_loop;
        std::shared_ptr<Lease> lease;
        std::shared_ptr<Publisher> publisher;
        std::shared_ptr<const base::Log> log;
        std::chrono::microseconds expiry{};
        std::chrono::nanoseconds heartbeat{};
        /// The node has a new identity, and may claim again.
        std::function<void(store::NodeId)> on_registered;
    };

    explicit NodeLoop(Parts parts) : parts_(std::move(parts)) {}

    void register_node();
    /// One heartbeat.
    base::Loop::Wait pulse(const std::stop_token& stop);
    /// Watches the lease, without the database.
    base::Loop::Wait guard_lease(const std::stop_token& stop);

    /// A job was canceled that this node holds, under this token; heard of by notification, or at the heartbeat. Told twice is
    /// told once.
    ///
    /// **Threads**: safe from any thread.
    void drop_canceled(const store::CanceledRun& run);

    [[nodiscard]] bool fenced() const noexcept { return fenced_.load(std::memory_order_acquire); }

    /// Whether this node has heartbeats behind it without a gap for one whole expiry, so that it may judge others: an
    /// outage that everybody shares must not make everybody dead.
    [[nodiscard]] bool may_expire_others() const noexcept;

private:
    void fence(const char* why);
    void reconcile(std::span<const ClaimToken> known, const store::Pulse& pulse);

    const Parts parts_;
    /// What the last heartbeat told of canceled runs: the next one says that it was heard.
    std::vector<std::int64_t> canceled_heard_;
    std::atomic<bool> fenced_{false};
    std::atomic<Lease::Span> fenced_at_{};
    /// Since when heartbeats have succeeded without a gap, on the lease's clock; zero: the last one failed.
    std::atomic<std::int64_t> unbroken_since_{0};
};

}  // namespace pawl::runtime
