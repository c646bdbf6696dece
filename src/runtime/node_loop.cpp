#include "runtime/node_loop.hpp"

#include <algorithm>
#include <utility>

#include "runtime/process_identity.hpp"

namespace pawl::runtime {

using base::Loop;

namespace {

/// How often a fenced node looks whether its outcomes are written.
constexpr std::chrono::milliseconds settle_check{50};
/// How long a comparison waits for claim statements under way; else the next heartbeat compares.
constexpr std::chrono::milliseconds claims_in_flight_bound{200};

}  // namespace

void NodeLoop::register_node() {
    const ProcessIdentity process = process_identity();
    const Lease::Span sent = Lease::now();
    const store::NodeId node = parts_.store->register_node({.name = process.name,
                                                            .host = process.host,
                                                            .boot = process.boot,
                                                            .pid = process.pid,
                                                            .process_start = process.start,
                                                            .expiry = parts_.expiry});
    parts_.publisher->set_node(node);
    parts_.log->set_node(node);
    parts_.lease->renew(sent);
    unbroken_since_.store(sent.count(), std::memory_order_relaxed);
    parts_.log->info("node {} is registered as {}", node, process.name);
    parts_.publisher->node_event(NodeStarted{});
    if (parts_.on_registered) parts_.on_registered(node);
}

Loop::Wait NodeLoop::pulse(const std::stop_token& /*stop*/) {
    const store::NodeId node = parts_.publisher->node();
    const std::vector<ClaimToken> known = parts_.ledger->known();
    const Lease::Span sent = Lease::now();
    store::Pulse pulse;
    try {
        pulse = parts_.store->heartbeat({node, parts_.settle_loop->answered(), canceled_heard_});
    } catch (...) {
        unbroken_since_.store(0, std::memory_order_relaxed);
        throw;
    }
    canceled_heard_.clear();
    for (const store::CanceledRun& run : pulse.canceled) {
        drop_canceled(run);
        canceled_heard_.push_back(run.number);
    }
    if (!pulse.alive) fence("the database has this node as dead");
    if (fenced_.load(std::memory_order_acquire)) {
        // First what was decided is written under its old token, for as long as another expiry; then what it still held
        // goes back uncounted. The goodbye would make those outcomes stale.
        if (!parts_.settle_loop->idle() && Lease::now() - fenced_at_.load() < parts_.expiry) return settle_check;
        parts_.store->say_goodbye(node);
        register_node();
        fenced_.store(false, std::memory_order_release);
        return parts_.heartbeat;
    }
    parts_.lease->renew(sent);
    if (unbroken_since_.load(std::memory_order_relaxed) == 0)
        unbroken_since_.store(sent.count(), std::memory_order_relaxed);
    reconcile(known, pulse);
    return parts_.heartbeat;
}

void NodeLoop::reconcile(std::span<const ClaimToken> known, const store::Pulse& pulse) {
    const auto difference = parts_.ledger->compare(known, pulse.claims, claims_in_flight_bound);
    if (!difference) return;
    const store::NodeId node = parts_.publisher->node();
    if (!difference->unknown.empty()) {
        const std::int64_t released = parts_.store->release_claims(node, difference->unknown);
        if (released > 0) parts_.log->warn("{} jobs of claims whose reply was lost were given back", released);
    }
    if (!difference->unknown_lost.empty()) {
        for (const store::LostClaim& claim : parts_.store->load_claims(node, difference->unknown_lost)) {
            parts_.ledger->enter(claim.token, claim.jobs.size());
            parts_.flow->lose(claim);
        }
    }
    for (const ClaimToken token : difference->missing) {
        // Somebody took it: what has not begun is not ours to run, and what runs will find its outcome stale.
        (void)parts_.pool->take_back_claim(token);
        for (const worker::RunningJob& running : parts_.pool->running()) {
            const worker::Job& job = running.run->job();
            if (job->slot.token == token) parts_.pool->request_stop(token, job->slot.id, worker::StopReason::canceled);
        }
        parts_.ledger->forget(token);
    }
}

void NodeLoop::drop_canceled(const store::CanceledRun& run) {
    // Its claim does not hold it any more. What has not begun is dropped; what runs is told, and its outcome will be stale.
    if (parts_.pool->take_back_unstarted(run.token, run.id) != nullptr ||
        parts_.quarantine->take_back(run.token) != nullptr) {
        parts_.ledger->settle(run.token);
    }
    parts_.pool->request_stop(run.token, run.id, worker::StopReason::canceled);
}

Loop::Wait NodeLoop::guard_lease(const std::stop_token& /*stop*/) {
    if (parts_.lease->holds()) return std::max(parts_.lease->left(), Loop::Wait(std::chrono::milliseconds(1)));
    fence("no heartbeat got through for the expiry time");
    return parts_.heartbeat;
}

void NodeLoop::fence(const char* why) {
    if (fenced_.exchange(true, std::memory_order_acq_rel)) return;
    fenced_at_ = Lease::now();
    parts_.lease->end();
    parts_.log->error(
        "this node is fenced: {}; its handlers are stopped, and it takes no jobs until it has registered anew", why);
    parts_.flow->release(parts_.pool->take_back_unstarted(), "fenced");
    parts_.pool->request_stop(worker::StopReason::fenced);
    parts_.publisher->node_event(NodeFenced{});
}

bool NodeLoop::may_expire_others() const noexcept {
    const std::int64_t since = unbroken_since_.load(std::memory_order_relaxed);
    return since != 0 && Lease::now() - Lease::Span(since) > parts_.expiry;
}

}  // namespace pawl::runtime
