#include "worker/queue_workers.hpp"

#include <algorithm>
#include <utility>

namespace pawl::worker {

using base::MutexLock;

QueueWorkers::QueueWorkers(QueueWidth width, PoolCalls calls, int max_abandoned, std::shared_ptr<const base::Log> log)
    : width_(std::move(width)), calls_(std::move(calls)), max_abandoned_(max_abandoned), log_(std::move(log)) {
    slots_.resize(static_cast<std::size_t>(std::max(width_.concurrency, 0)));
}

QueueWorkers::Run QueueWorkers::begin_next(std::size_t slot, SteadyTime now) {
    auto next = unstarted_.begin();
    while (next != unstarted_.end() && is_held_back(next->job->slot.id)) ++next;
    if (next == unstarted_.end()) return nullptr;
    auto run = std::make_shared<StopState>(next->job, now);
    unstarted_.erase(next);
    slots_[slot].run = run;
    slots_[slot].runner = std::this_thread::get_id();
    ++running_;
    return run;
}

bool QueueWorkers::is_held_back(JobId id) const {
    for (const auto& abandoned : abandoned_) {
        if (abandoned.run->job()->slot.id == id) return true;
    }
    return false;
}

bool QueueWorkers::end_run(std::size_t slot, const Run& run, SteadyTime now) {
    if (slots_[slot].run != run) return false;
    slots_[slot].run.reset();
    --running_;
    // A mean over about the last eight runs: it follows a change of load, and one odd run moves it little.
    const auto took = now - run->started();
    mean_run_ = mean_run_ ? *mean_run_ + (took - *mean_run_) / 8 : took;
    if (unstarted_.empty()) idle_.notify_all();
    return true;
}

bool QueueWorkers::tells_capacity() {
    const auto unstarted = static_cast<int>(unstarted_.size());
    if (capacity_told_ || closed_ || unstarted > prefetch_ / 2) return false;
    if (running_ + unstarted >= serving_ + prefetch_) return false;
    capacity_told_ = true;
    return true;
}

void QueueWorkers::stop_serving(Slot& slot) {
    if (std::exchange(slot.serving, false)) --serving_;
}

bool QueueWorkers::push(const std::vector<Job>& jobs) {
    const auto now = std::chrono::steady_clock::now();
    const MutexLock lock{mutex_};
    if (closed_) return false;
    for (const auto& job : jobs) unstarted_.push_back({job, now});
    capacity_told_ = false;
    const auto wanted = std::min(static_cast<int>(jobs.size()), sleeping_);
    if (wanted == sleeping_)
        work_.notify_all();
    else
        for (int i = 0; i < wanted; ++i) work_.notify_one();
    return true;
}

Load QueueWorkers::load() const {
    const MutexLock lock{mutex_};
    return {serving_, running_, static_cast<int>(unstarted_.size()), static_cast<int>(abandoned_.size()), mean_run_};
}

void QueueWorkers::tell_capacity_anew() {
    const MutexLock lock{mutex_};
    capacity_told_ = false;
}

void QueueWorkers::set_prefetch(int jobs) {
    const MutexLock lock{mutex_};
    prefetch_ = std::max(jobs, 0);
}

std::vector<Job> QueueWorkers::take_back_pushed_until(SteadyTime time) {
    std::vector<Job> jobs;
    const MutexLock lock{mutex_};
    // They stand in the order in which they were pushed.
    while (!unstarted_.empty() && unstarted_.front().pushed <= time) {
        jobs.push_back(std::move(unstarted_.front().job));
        unstarted_.pop_front();
    }
    if (unstarted_.empty()) idle_.notify_all();
    return jobs;
}

Job QueueWorkers::take_back(ClaimToken token, JobId id) {
    const MutexLock lock{mutex_};
    const auto found = std::find_if(unstarted_.begin(), unstarted_.end(), [=](const Unstarted& unstarted) {
        return unstarted.job->slot.token == token && unstarted.job->slot.id == id;
    });
    if (found == unstarted_.end()) return nullptr;
    Job job = std::move(found->job);
    unstarted_.erase(found);
    if (unstarted_.empty()) idle_.notify_all();
    return job;
}

std::vector<Job> QueueWorkers::take_back_claim(ClaimToken token) {
    std::vector<Job> jobs;
    const MutexLock lock{mutex_};
    const auto others =
        std::stable_partition(unstarted_.begin(), unstarted_.end(),
                              [token](const Unstarted& unstarted) { return unstarted.job->slot.token != token; });
    for (auto it = others; it != unstarted_.end(); ++it) jobs.push_back(std::move(it->job));
    unstarted_.erase(others, unstarted_.end());
    if (unstarted_.empty()) idle_.notify_all();
    return jobs;
}

std::vector<RunningJob> QueueWorkers::running() const {
    std::vector<RunningJob> all;
    const MutexLock lock{mutex_};
    for (const auto& slot : slots_) {
        if (slot.run) all.push_back({slot.run, false});
    }
    for (const auto& abandoned : abandoned_) all.push_back({abandoned.run, true});
    return all;
}

std::vector<Job> QueueWorkers::close() {
    {
        const MutexLock lock{mutex_};
        closed_ = true;
        work_.notify_all();
    }
    return take_back_pushed_until(SteadyTime::max());
}

bool QueueWorkers::runs_on_this_thread() const {
    const MutexLock lock{mutex_};
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) { return slot.run && slot.runner == std::this_thread::get_id(); });
}

bool QueueWorkers::is_idle() const {
    if (!unstarted_.empty()) return false;
    if (running_ > 1) return false;
    for (const auto& slot : slots_) {
        if (slot.run && slot.runner != std::this_thread::get_id()) return false;
    }
    return true;
}

bool QueueWorkers::wait_idle(SteadyTime until) const {
    const MutexLock lock{mutex_};
    while (!is_idle()) {
        if (!idle_.wait_until(mutex_, until) && !is_idle()) return false;
    }
    return true;
}

}  // namespace pawl::worker
