// How the threads of a queue begin, are lost to handlers, and end. What they do with jobs is in queue_workers.cpp.

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include <cxxabi.h>

#include "worker/queue_workers.hpp"

namespace pawl::worker {

using base::MutexLock;
using SteadyClock = std::chrono::steady_clock;

template <class... Args>
void QueueWorkers::call(const std::function<void(Args...)>& function, const char* what,
                        std::type_identity_t<Args>... args) const {
    if (!function) return;
    try {
        function(args...);
#if defined(__GLIBCXX__)
    } catch (const abi::__forced_unwind&) {
        throw;
#endif
    } catch (...) {
        log_->error("{} of queue {} threw, which it must not", what, width_.name);
    }
}

base::Thread QueueWorkers::thread_for(std::size_t slot, Run overdue) {
    return base::Thread{"pawl-" + width_.name,
                        [self = shared_from_this(), slot, overdue = std::move(overdue)]() mutable {
                            Worker worker{*self, slot, std::move(overdue)};
                            self->serve(worker);
                        }};
}

void QueueWorkers::start() {
    const MutexLock lock{mutex_};
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (closed_ || slots_[i].serving) continue;
        slots_[i].thread = thread_for(i, nullptr);
        slots_[i].serving = true;
        ++serving_;
    }
}

void QueueWorkers::serve(Worker& worker) {
    if (const Run overdue = std::exchange(worker.overdue, nullptr)) {
        if (overdue->claim_verdict()) call(calls_.settle_overdue, "settling an overdue run", overdue);
        if (!stays(worker)) return;
    }
    while (!worker.left) {
        try {
            worker.run = take(worker);
        } catch (const std::bad_alloc&) {
            log_->error("no memory to begin a job of queue {}", width_.name);
            const MutexLock lock{mutex_};
            work_.wait_for(mutex_, std::chrono::milliseconds(100));
        }
        if (worker.run) call(calls_.run, "a run", worker.run);
    }
}

QueueWorkers::Run QueueWorkers::take(Worker& worker) {
    auto now = SteadyClock::now();
    // Let go of after the lock: with it a whole job may be freed.
    const Run previous = std::exchange(worker.run, nullptr);
    MutexLock lock{mutex_};
    if (previous && !end_run(worker.slot, previous, now)) {
        come_back(worker, previous);
        lock.unlock();
        call(calls_.on_returned, "telling of a returned thread", *previous);
        lock.lock();
    }
    while (!worker.left) {
        Run next = begin_next(worker.slot, now);
        const bool tells = tells_capacity();
        if (next || tells) {
            lock.unlock();
            if (tells) call(calls_.on_capacity, "telling capacity", width_.name);
            if (next) return next;
            lock.lock();
        } else if (closed_) {
            stop_serving(slots_[worker.slot]);
            worker.left = true;
        } else {
            ++sleeping_;
            work_.wait(mutex_);
            --sleeping_;
        }
        now = SteadyClock::now();
    }
    return nullptr;
}

void QueueWorkers::abandon(const Run& run) {
    join_ended();
    {
        const MutexLock lock{mutex_};
        if (finished_ || run->verdict_claimed()) return;
        const auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.run == run; });
        if (slot == slots_.end()) return;
        abandoned_.reserve(abandoned_.size() + 1);
        auto replacement = thread_for(static_cast<std::size_t>(slot - slots_.begin()), run);
        abandoned_.push_back({std::move(slot->thread), std::move(slot->run)});
        slot->thread = std::move(replacement);
        --running_;
        if (serving_ > allowed_width()) stop_serving(*slot);
        idle_.notify_all();
    }
    call(calls_.on_abandoned, "telling of an abandoned thread", *run);
}

int QueueWorkers::allowed_width() const {
    const auto abandoned = static_cast<int>(abandoned_.size());
    return static_cast<int>(slots_.size()) - std::max(abandoned - max_abandoned_, 0);
}

bool QueueWorkers::stays(Worker& worker) {
    const MutexLock lock{mutex_};
    Slot& slot = slots_[worker.slot];
    if (slot.serving) return true;
    if (!closed_ && serving_ < allowed_width()) {
        slot.serving = true;
        ++serving_;
        return true;
    }
    if (!finished_) ended_.push_back(std::move(slot.thread));
    worker.left = true;
    return false;
}

void QueueWorkers::come_back(Worker& worker, const Run& run) {
    worker.left = true;
    const auto self =
        std::find_if(abandoned_.begin(), abandoned_.end(), [&](const Abandoned& a) { return a.run == run; });
    if (self == abandoned_.end()) return;  // finish() has taken it
    auto thread = std::move(self->thread);
    abandoned_.erase(self);
    // A retry of that job may have waited for this.
    work_.notify_all();
    const auto vacant =
        std::find_if(slots_.begin(), slots_.end(), [](const Slot& s) { return !s.serving && !s.thread.joinable(); });
    if (closed_ || vacant == slots_.end() || serving_ >= allowed_width()) {
        ended_.push_back(std::move(thread));
        return;
    }
    vacant->thread = std::move(thread);
    vacant->serving = true;
    ++serving_;
    worker.slot = static_cast<std::size_t>(vacant - slots_.begin());
    worker.left = false;
}

void QueueWorkers::leave(Worker& worker) noexcept {
    if (worker.left) return;
    try {
        const Run run = std::exchange(worker.run, nullptr);
        const MutexLock lock{mutex_};
        if (run && !end_run(worker.slot, run, SteadyClock::now())) {
            come_back(worker, run);
            // It cannot serve where it was put, for it is about to end.
            if (worker.left) return;
        }
        Slot& slot = slots_[worker.slot];
        stop_serving(slot);
        if (finished_) return;
        ended_.push_back(std::move(slot.thread));
        if (closed_ || serving_ >= allowed_width()) return;
        slot.thread = thread_for(worker.slot, nullptr);
        slot.serving = true;
        ++serving_;
    } catch (...) {
        log_->error("queue {} lost a thread, and there is none to replace it", width_.name);
    }
}

void QueueWorkers::join_ended() {
    std::vector<base::Thread> ended;
    const MutexLock lock{mutex_};
    ended.swap(ended_);
}

std::vector<RunningJob> QueueWorkers::finish(SteadyTime until) {
    std::vector<Slot> slots;
    std::vector<Abandoned> abandoned;
    std::vector<base::Thread> ended;
    {
        const MutexLock lock{mutex_};
        closed_ = true;
        if (std::exchange(finished_, true)) return {};
        unstarted_.clear();
        for (auto& slot : slots_) slots.push_back({std::move(slot.thread), slot.run});
        abandoned.swap(abandoned_);
        ended.swap(ended_);
        work_.notify_all();
    }
    std::vector<RunningJob> left;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].thread.join_until(until)) continue;
        slots[i].thread.abandon();
        const MutexLock lock{mutex_};
        if (slots_[i].run) left.push_back({slots_[i].run, false});
    }
    for (auto& lost : abandoned) {
        if (lost.thread.join_until(until)) continue;
        lost.thread.abandon();
        left.push_back({lost.run, true});
    }
    for (auto& thread : ended) thread.join();
    return left;
}

}  // namespace pawl::worker
