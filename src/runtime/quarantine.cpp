#include "runtime/quarantine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pawl::runtime {
namespace {

constexpr std::chrono::seconds first_patience{10};
constexpr std::chrono::hours longest_patience{1};
/// When another node was faster, or the suspect went at once.
constexpr std::chrono::milliseconds shortest_rest{100};

}  // namespace

Quarantine::Quarantine(Parts parts) : parts_(std::move(parts)), patience_(first_patience) {}

bool Quarantine::occupied(SteadyTime now) {
    if (token_ == 0) return false;
    const std::vector<ClaimToken> held = parts_.ledger->known();
    if (std::ranges::find(held, token_) == held.end()) {
        // Settled, canceled, or taken away with the node's claims.
        (void)take_waiting();
        patience_ = first_patience;
        leave(now);
        return false;
    }
    const bool alone = held.size() == 1;
    if (!alone && now - since_ < patience_) return true;
    worker::Job suspect = take_waiting();
    if (suspect == nullptr) return true;
    if (!alone) {
        patience_ = std::min<std::chrono::nanoseconds>(patience_ * 2, longest_patience);
        parts_.flow->release({std::move(suspect)}, "other jobs ran for too long to run a suspect alone");
        leave(now);
        return false;
    }
    if (!parts_.pool->push(suspect->queue, {suspect})) parts_.flow->release({suspect}, "stopping");
    return true;
}

bool Quarantine::take(std::span<const int> queues, std::span<const int> kinds, SteadyTime now) {
    since_ = now;
    worker::Job suspect = claim(queues, kinds);
    if (suspect == nullptr) {
        leave(now);
        return false;
    }
    token_ = suspect->slot.token;
    const base::MutexLock lock(mutex_);
    waiting_ = std::move(suspect);
    return true;
}

worker::Job Quarantine::claim(std::span<const int> queues, std::span<const int> kinds) {
    const ClaimLedger::UnderWay under_way(*parts_.ledger);
    store::Claimed claimed = parts_.store->claim_suspect({parts_.publisher->node(), queues, kinds});
    if (claimed.jobs.empty()) return nullptr;
    parts_.ledger->enter(claimed.jobs.front()->slot.token, 1);
    return std::move(claimed.jobs.front());
}

worker::Job Quarantine::take_back(ClaimToken token) {
    const base::MutexLock lock(mutex_);
    if (waiting_ == nullptr || waiting_->slot.token != token) return nullptr;
    return std::exchange(waiting_, nullptr);
}

void Quarantine::give_back(std::string_view why) {
    if (worker::Job suspect = take_waiting()) parts_.flow->release({std::move(suspect)}, why);
}

worker::Job Quarantine::take_waiting() {
    const base::MutexLock lock(mutex_);
    return std::exchange(waiting_, nullptr);
}

void Quarantine::leave(SteadyTime now) {
    token_ = 0;
    rest_until_ = now + std::max<std::chrono::nanoseconds>(now - since_, shortest_rest);
}

}  // namespace pawl::runtime
