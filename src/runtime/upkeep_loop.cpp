#include "runtime/upkeep_loop.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <pawl/errors.hpp>

namespace pawl::runtime {
namespace {

using std::chrono::steady_clock;
using Wait = base::Loop::Wait;

constexpr int claims_per_round = 16;
constexpr int promoted_at_once = 1000;
constexpr std::chrono::minutes room_every{10};
constexpr int purge_window = 2000;
constexpr std::chrono::milliseconds purge_breath{100};
constexpr std::chrono::milliseconds purge_every = std::chrono::minutes{10};
constexpr std::array promotion_queue{0};
constexpr std::chrono::minutes queues_every{1};
constexpr std::chrono::seconds queues_every_while_halted{5};

/// The same due time, computed twice from the database's clock, differs by the time of the statements.
bool same_time(const std::optional<steady_clock::time_point>& a, const std::optional<steady_clock::time_point>& b) {
    if (!a || !b) return !a && !b;
    return std::chrono::abs(*a - *b) < std::chrono::milliseconds(50);
}

}  // namespace

Wait UpkeepLoop::step(const std::stop_token& stop) {
    const auto now = steady_clock::now();
    if (now >= next_rescue_) {
        rescue(stop);
        next_rescue_ = now + parts_.rescue_every;
    }
    if (now >= next_room_) {
        make_room();
        next_room_ = now + room_every;
    }
    if (now >= next_purge_) next_purge_ = purge();
    if (look_at_queues_.exchange(false, std::memory_order_acq_rel) || now >= next_queues_) see_queues();
    if (now >= next_share_) next_share_ = share_retry_loads();
    auto next_due = promote(stop);
    if (announce_anew_.exchange(false, std::memory_order_acq_rel)) announced_by_ = 0;
    if (parts_.listen) {
        const auto wake_at = next_due ? std::optional(steady_clock::now() + *next_due) : std::nullopt;
        if (announced_by_ != parts_.publisher->node() || !same_time(announced_, wake_at)) {
            parts_.store->announce_upkeep_sleep({parts_.publisher->node(), promotion_queue, next_due});
            announced_by_ = parts_.publisher->node();
            announced_ = wake_at;
            // One more look: what was scheduled before the announcement told nobody.
            next_due = promote(stop);
        }
    }
    Wait wait = std::min<Wait>(parts_.poll_floor,
                               std::min({next_rescue_, next_purge_, next_share_, next_queues_}) - steady_clock::now());
    if (next_due) wait = std::min<Wait>(wait, *next_due);
    return std::max<Wait>(wait, std::chrono::milliseconds(1));
}

void UpkeepLoop::rescue(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const store::Rescued rescued = take_over();
        for (const store::NodeId node : rescued.expired) {
            parts_.log->warn("node {} has not been heard of for its expiry time: its jobs are taken over", node);
            NodeExpired event;
            event.expired_node = node;
            parts_.publisher->node_event(event);
        }
        for (const store::LostClaim& claim : rescued.claims) parts_.flow->lose(claim);
        if (rescued.expired.empty() && rescued.claims.empty() && rescued.released == 0) return;
    }
}

store::Rescued UpkeepLoop::take_over() {
    const ClaimLedger::UnderWay under_way(*parts_.ledger);
    store::Rescued rescued =
        parts_.store->rescue({parts_.publisher->node(), claims_per_round, parts_.may_expire_others()});
    for (const store::LostClaim& claim : rescued.claims) parts_.ledger->enter(claim.token, claim.jobs.size());
    return rescued;
}

std::optional<std::chrono::microseconds> UpkeepLoop::promote(const std::stop_token& stop) {
    store::Promoted promoted;
    do {
        promoted = parts_.store->promote(promoted_at_once);
    } while (promoted.moved == promoted_at_once && !stop.stop_requested());
    if (promoted.next_due) promoted.next_due = std::max(*promoted.next_due, std::chrono::microseconds::zero());
    return promoted.next_due;
}

UpkeepLoop::SteadyTime UpkeepLoop::share_retry_loads() {
    std::map<int, failure::Budget*> budgets;
    std::vector<store::KindLoad> own;
    for (const auto& [name, kind] : parts_.kinds->all()) {
        if (!kind.setup.policy.budget) continue;
        budgets.emplace(kind.id, kind.setup.policy.budget.get());
        own.push_back({kind.id, kind.setup.policy.budget->counted()});
    }
    if (own.empty()) return SteadyTime::max();
    std::map<int, model::RetryLoad> others;
    for (const store::KindLoad& said : parts_.store->share_retry_loads(parts_.publisher->node(), own)) {
        others[said.kind] = said.load;
    }
    for (const auto& [kind, budget] : budgets) budget->hear_of_others(others[kind]);
    return steady_clock::now() + parts_.share_every;
}

UpkeepLoop::SteadyTime UpkeepLoop::purge() {
    const store::Purged purged = parts_.store->purge({parts_.retention, purged_to_, purge_window});
    if (purged.jobs > 0) {
        Purged event;
        event.jobs = purged.jobs;
        event.attempts = purged.attempts;
        parts_.publisher->node_event(event);
    }
    // A full window with old jobs: the sweep goes on after a breath. Else it is over, or another node's: begin anew later.
    const bool more = purged.ours && purged.any_old && purged.looked_at == purge_window;
    purged_to_ = more ? purged.last : 0;
    return steady_clock::now() + (more ? purge_breath : purge_every);
}

void UpkeepLoop::see_queues() {
    std::vector<std::string> halted;
    for (const QueueInfo& queue : parts_.store->queues()) {
        if (queue.halted_by && std::ranges::find(parts_.queues, queue.name) != parts_.queues.end())
            halted.push_back(queue.name);
    }
    // Nobody tells of what was resumed.
    next_queues_ = steady_clock::now() + (halted.empty() ? queues_every : queues_every_while_halted);
    const base::MutexLock lock(halted_mutex_);
    halted_ = std::move(halted);
}

std::vector<std::string> UpkeepLoop::halted_queues() const {
    const base::MutexLock lock(halted_mutex_);
    return halted_;
}

void UpkeepLoop::make_room() {
    try {
        parts_.store->make_room();
        parts_.store->forget_nodes();
    } catch (const StoreError& error) {
        // Two ranges lie ahead, and beyond them is a default partition: this can wait for a quieter moment.
        if (!error.transient()) parts_.log->warn("no partition could be made ahead: {}", error.what());
    }
}

}  // namespace pawl::runtime
