#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/clock.hpp>

#include "base/log.hpp"
#include "model/outcome.hpp"
#include "runtime/claim_ledger.hpp"
#include "runtime/guards.hpp"
#include "runtime/kinds.hpp"
#include "runtime/lease.hpp"
#include "runtime/owed_calls.hpp"
#include "runtime/publisher.hpp"
#include "runtime/settle_queue.hpp"
#include "store/store.hpp"
#include "worker/executor.hpp"
#include "worker/pool.hpp"

namespace pawl::runtime {

/// Decided runs that are written together, under one number.
struct Batch {
    store::NodeId node{};
    std::int64_t seq{};
    std::vector<Decided> decided;
};

/// A decision on its way to the settle, and the callbacks that stay behind until it is written.
struct Judged {
    Decided decided;
    Owed owed;
};

/// The life of a claimed job: execute → decide → settle → publish.
///
/// **Threads**: safe from any thread; `run` and `give_up` on worker threads, `settle` on the settle loop.
/// **Lifetime**: shared with the worker threads, so that an abandoned one finds it still there.
class JobFlow {
public:
    struct Parts {
        std::shared_ptr<const Kinds> kinds;
        std::shared_ptr<const worker::Executor> executor;
        std::shared_ptr<SettleQueue> queue;
        std::shared_ptr<store::Store> store;
        std::shared_ptr<Publisher> publisher;
        std::shared_ptr<OwedCalls> owed;
        std::shared_ptr<const Lease> lease;
        std::shared_ptr<Guards> guards;
        std::shared_ptr<RandomSource> random;
        std::shared_ptr<const Clock> clock;
        /// For jobs and kinds that say none; `no_timeout` is none.
        Duration default_timeout;
        double soft_limit{0.8};
        /// Of what a follow-up tells.
        std::size_t max_payload{};
    };

    explicit JobFlow(Parts parts) : parts_(std::move(parts)) {}

    /// Runs one job to its decision. What it owes is to be called once it is settled.
    [[nodiscard]] Owed run(const std::shared_ptr<worker::StopState>& run) const;
    /// Tells that a run has passed its soft limit.
    void warn(const worker::StopState& run) const;
    /// Decides about a run whose handler does not come back; the same.
    [[nodiscard]] Owed give_up(const std::shared_ptr<worker::StopState>& run) const;
    /// Decides about the jobs of a node that was lost.
    void lose(const store::LostClaim& claim) const;
    /// Gives back, uncounted, what has not begun; due again after the wait.
    void release(const std::vector<worker::Job>& jobs, std::string_view why, std::chrono::microseconds wait = {}) const;
    /// Writes decided runs, tells what was written, and returns the queues that were halted by it. Throws `StoreError`; then
    /// nothing was told.
    std::vector<store::Halted> settle(const Batch& batch) const;

private:
    /// Why a job goes back unrun, and for how long.
    struct Refusal {
        std::string why;
        std::chrono::microseconds wait{};
    };

    [[nodiscard]] std::optional<Refusal> refuse(const model::ClaimedJob& job, const Kinds::Kind* kind) const;
    /// Writes down that the run begins; false when that is not certain, or the job is not ours any more.
    [[nodiscard]] bool begins(const model::ClaimedJob& job) const;
    [[nodiscard]] Judged decide(const worker::Job& job, const model::Outcome& outcome) const;
    [[nodiscard]] Owed settle_soon(Judged judged) const;
    void settle_soon(std::vector<Judged> judged) const;
    [[nodiscard]] worker::RunLimits limits(const model::ClaimedJob& job, const Kinds::Kind& kind) const;

    const Parts parts_;
};

}  // namespace pawl::runtime
