#include <algorithm>

#include "runtime/engine_impl.hpp"

namespace pawl::runtime {

Health Engine::Impl::health() const {
    Vitals vitals;
    {
        const base::MutexLock lock(mutex_);
        if (!started_) return {};
        vitals.stopping = stopping_ != Stopping::no;
        vitals.left_running = left_running_.load(std::memory_order_acquire);
        if (stopping_ == Stopping::done) return judge(vitals);
    }
    vitals.claim = claim_loop_->vitals();
    vitals.settle = settle_loop_->vitals();
    vitals.pulse = pulse_loop_->vitals();
    if (listen_loop_) vitals.listen = listen_loop_->vitals();
    vitals.since_heartbeat = lease_->age();
    vitals.heartbeat = setup_.heartbeat;
    vitals.fenced = node_->fenced();
    vitals.closed = claim_->closed();
    for (const QueueSetup& queue : setup_.queues) {
        const auto load = pool_->load(queue.name);
        // A pool that stops has none.
        if (load && !vitals.stopping) vitals.lost_slots += std::max(queue.concurrency - load->width, 0);
    }
    vitals.halted_queues = upkeep_->halted_queues();
    return judge(vitals);
}

}  // namespace pawl::runtime
