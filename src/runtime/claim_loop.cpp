#include "runtime/claim_loop.hpp"

#include <algorithm>
#include <utility>

namespace pawl::runtime {
namespace {

using std::chrono::steady_clock;
using Wait = base::Loop::Wait;

/// How long claimed work may lie here without a thread for it.
constexpr std::chrono::seconds stale_after{1};
/// How often that is looked at while all threads are busy.
constexpr std::chrono::milliseconds stale_check{250};
/// How often it is looked whether a suspect is alone here, and later whether it has ended.
constexpr std::chrono::milliseconds suspect_check{20};
constexpr std::chrono::milliseconds first_nap{50};
/// Claimed ahead at most, whatever the target says: it bounds memory, and what comes back at a stop.
constexpr int most_prefetch = 1024;
constexpr std::size_t most_prefetch_bytes = 8 * 1024 * 1024;

}  // namespace

ClaimLoop::ClaimLoop(Parts parts) : parts_(std::move(parts)) {
    for (const Queue& queue : parts_.queues) queues_.push_back({queue});
}

Wait ClaimLoop::step(const std::stop_token& stop) {
    asleep_.store(false, std::memory_order_release);
    if (closed_.load(std::memory_order_acquire) || stop.stop_requested()) return base::Loop::until_poked;
    if (announce_anew_.exchange(false, std::memory_order_acq_rel)) announced_ = 0;
    give_back_stale_prefetch();
    if (!parts_.lease->holds()) return stale_check;
    if (parts_.quarantine->occupied(steady_clock::now())) return suspect_check;
    const std::vector<store::QueueRoom> wanted = rooms();
    if (wanted.empty()) return stale_check;

    const bool look_through =
        look_through_.load(std::memory_order_acquire) && marks_.next_full_look() <= steady_clock::now();
    if (look_through) {
        look_through_.store(false, std::memory_order_release);
        marks_.forget();
    }
    const auto begun = steady_clock::now();
    store::Claimed claimed = claim(wanted);
    if (look_through) marks_.measured(begun, steady_clock::now());

    if (!claimed.node_alive) return stale_check;  // The pulse finds out, and registers anew.
    int room = 0;
    for (const store::QueueRoom& one : wanted) room += one.room;
    const bool filled = claimed.jobs.size() >= static_cast<std::size_t>(room);
    // What stands before the marks is looked for whenever a claim comes back short.
    if (!filled && !look_through) expect_more();
    const bool nothing = claimed.jobs.empty();
    hand_out(claimed);
    if (claimed.suspects && (nothing || parts_.quarantine->may_take(steady_clock::now())) && take_suspect()) {
        return Wait::zero();
    }
    if (filled) {
        wake();
        return Wait::zero();
    }
    if (claimed.met_locks) {
        return std::chrono::milliseconds(1) +
               std::chrono::microseconds(static_cast<std::int64_t>(parts_.random->uniform() * 4000));
    }
    return nothing || look_through ? sleep(claimed, look_through) : Wait::zero();
}

void ClaimLoop::close() {
    closed_.store(true, std::memory_order_release);
    parts_.quarantine->give_back("stopping");
}

bool ClaimLoop::take_suspect() {
    const bool taken = parts_.quarantine->take(queue_ids(), parts_.kinds, steady_clock::now());
    if (closed_.load(std::memory_order_acquire)) parts_.quarantine->give_back("stopping");
    return taken;
}

std::vector<int> ClaimLoop::queue_ids() const {
    std::vector<int> ids;
    for (const Queue& queue : parts_.queues) ids.push_back(queue.id);
    return ids;
}

store::Claimed ClaimLoop::claim(const std::vector<store::QueueRoom>& rooms) {
    const store::NodeId node = parts_.publisher->node();
    const std::vector<JobId> given_up = given_up_here();
    waits_for_return_ = !given_up.empty();
    const ClaimLedger::UnderWay under_way(*parts_.ledger);
    store::Claimed claimed = parts_.store->claim({node, rooms, marks_.starts(), parts_.kinds, given_up});
    marks_.advance(claimed.jobs);
    std::map<ClaimToken, std::size_t> sizes;
    std::size_t bytes = 0;
    for (const worker::Job& job : claimed.jobs) {
        ++sizes[job->slot.token];
        bytes += job->payload.size();
    }
    for (const auto& [token, size] : sizes) parts_.ledger->enter(token, size);
    if (!claimed.jobs.empty()) mean_payload_ = bytes / claimed.jobs.size();
    return claimed;
}

std::string_view ClaimLoop::name_of(int queue) const {
    for (const Queue& one : parts_.queues) {
        if (one.id == queue) return one.name;
    }
    return {};
}

std::vector<JobId> ClaimLoop::given_up_here() const {
    std::vector<JobId> ids;
    const bool any = std::any_of(queues_.begin(), queues_.end(), [this](const QueueState& state) {
        const auto load = parts_.pool->load(state.queue.name);
        return load && load->abandoned > 0;
    });
    if (!any) return ids;
    for (const worker::RunningJob& running : parts_.pool->running()) {
        if (running.abandoned) ids.push_back(running.run->job()->slot.id);
    }
    return ids;
}

void ClaimLoop::hand_out(store::Claimed& claimed) {
    std::map<int, std::vector<worker::Job>> by_queue;
    for (worker::Job& job : claimed.jobs) by_queue[job->facts.queue].push_back(std::move(job));
    for (const auto& [id, jobs] : by_queue) {
        if (!parts_.pool->push(jobs.front()->queue, jobs)) parts_.flow->release(jobs, "stopping");
    }
}

std::vector<store::QueueRoom> ClaimLoop::rooms() {
    std::vector<store::QueueRoom> rooms;
    int left = parts_.claim_limit;
    // Each claim begins with another queue, so that none takes the whole of a claim for ever.
    for (std::size_t i = 0; i < queues_.size() && left > 0; ++i) {
        QueueState& state = queues_[(first_queue_ + i) % queues_.size()];
        // Before the look: what comes free after it is told, and ends the wait for it.
        parts_.pool->tell_capacity_anew(state.queue.name);
        const auto load = parts_.pool->load(state.queue.name);
        if (!load) continue;
        const int free = load->free_slots();
        if (free > 0) state.stalled = false;
        const int ahead = state.stalled ? 0 : prefetch(*load);
        parts_.pool->set_prefetch(state.queue.name, ahead);
        // Claiming is worth a round trip when a thread is free or half of what was claimed ahead is gone.
        const int wanted = load->width + ahead - load->running - load->unstarted;
        if (wanted <= 0 || (free == 0 && load->unstarted * 2 > ahead)) continue;
        rooms.push_back({state.queue.id, std::min(wanted, left)});
        left -= rooms.back().room;
    }
    first_queue_ = (first_queue_ + 1) % std::max<std::size_t>(queues_.size(), 1);
    return rooms;
}

int ClaimLoop::prefetch(const worker::Load& load) const {
    if (!load.mean_run || load.width == 0) return 0;
    const auto mean = std::max<std::int64_t>(load.mean_run->count(), 1);
    const std::int64_t jobs = parts_.prefetch_target.count() / mean * load.width;
    const auto fitting = static_cast<std::int64_t>(most_prefetch_bytes / std::max<std::size_t>(mean_payload_, 1));
    return static_cast<int>(std::min({jobs, fitting, std::int64_t{most_prefetch}}));
}

void ClaimLoop::give_back_stale_prefetch() {
    for (QueueState& state : queues_) {
        const auto load = parts_.pool->load(state.queue.name);
        if (!load || load->unstarted == 0 || load->free_slots() > 0) continue;
        const std::vector<worker::Job> stale = parts_.pool->take_back_unstarted(state.queue.name, stale_after);
        if (stale.empty()) continue;
        state.stalled = true;
        parts_.flow->release(stale, "no thread was free for it");
    }
}

Wait ClaimLoop::sleep(const store::Claimed& looked, bool looked_through) {
    const store::NodeId node = parts_.publisher->node();
    if (announced_ != node) {
        const std::vector<int> ids = queue_ids();
        first_later_writer_ = parts_.store->announce_sleep({node, ids, std::nullopt}).first_later_writer;
        announced_ = node;
        nap_ = first_nap;
        // Whoever committed before the announcement told nobody: look once more.
        expect_more();
        return Wait::zero();
    }
    if (!looked_through) {
        const Wait until_allowed = marks_.next_full_look() - steady_clock::now();
        return std::max(until_allowed, Wait(std::chrono::microseconds(1)));
    }
    expect_more();
    // Nobody tells when a handler that was given up comes back, and its retry may run here again.
    if (waits_for_return_) return stale_check;
    asleep_.store(true, std::memory_order_release);
    // Transactions older than the announcement may have missed it; once none of them can write any more, all others tell.
    if (looked.oldest_writer >= first_later_writer_) return parts_.poll_floor;
    return std::exchange(nap_, std::min(nap_ * 2, parts_.poll_floor));
}

void ClaimLoop::wake() {
    if (announced_ == 0) return;
    const store::NodeId node = std::exchange(announced_, 0);
    parts_.store->announce_awake(node);
}

}  // namespace pawl::runtime
