#include "worker/pool.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "worker/queue_workers.hpp"

namespace pawl::worker {
namespace {

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The youngest push that is old enough.
StopState::SteadyTime pushed_until(std::chrono::nanoseconds older_than) {
    return std::chrono::steady_clock::now() - std::max(older_than, std::chrono::nanoseconds::zero());
}

}  // namespace

Pool::Pool(PoolOptions options, std::shared_ptr<const base::Log> log) : last_grace_(options.last_grace) {
    for (auto& width : options.queues) {
        auto name = width.name;
        queues_.emplace(std::move(name),
                        std::make_shared<QueueWorkers>(std::move(width), options.calls, options.max_abandoned, log));
    }
}

Pool::~Pool() {
    static_cast<void>(close());
    request_stop(StopReason::stopping);
    static_cast<void>(finish(std::chrono::steady_clock::now() + last_grace_));
}

void Pool::start() {
    try {
        for (const auto& [name, workers] : queues_) workers->start();
    } catch (...) {
        static_cast<void>(close());
        static_cast<void>(finish(SteadyTime::max()));
        throw;
    }
}

QueueWorkers* Pool::find(std::string_view queue) const noexcept {
    const auto found = queues_.find(queue);
    return found == queues_.end() ? nullptr : found->second.get();
}

bool Pool::push(std::string_view queue, const std::vector<Job>& jobs) {
    auto* const workers = find(queue);
    return workers != nullptr && workers->push(jobs);
}

std::optional<Load> Pool::load(std::string_view queue) const {
    const auto* const workers = find(queue);
    if (workers == nullptr) return std::nullopt;
    return workers->load();
}

std::vector<std::string> Pool::queues() const {
    std::vector<std::string> names;
    for (const auto& [name, workers] : queues_) names.push_back(name);
    return names;
}

void Pool::set_prefetch(std::string_view queue, int jobs) {
    if (auto* const workers = find(queue)) workers->set_prefetch(jobs);
}

void Pool::tell_capacity_anew(std::string_view queue) {
    if (QueueWorkers* const workers = find(queue)) workers->tell_capacity_anew();
}

std::vector<Job> Pool::take_back_unstarted(std::string_view queue, std::chrono::nanoseconds older_than) {
    auto* const workers = find(queue);
    if (workers == nullptr) return {};
    return workers->take_back_pushed_until(pushed_until(older_than));
}

std::vector<Job> Pool::take_back_unstarted(std::chrono::nanoseconds older_than) {
    std::vector<Job> all;
    const auto until = pushed_until(older_than);
    for (const auto& [name, workers] : queues_) append(all, workers->take_back_pushed_until(until));
    return all;
}

Job Pool::take_back_unstarted(ClaimToken token, JobId id) {
    for (const auto& [name, workers] : queues_) {
        if (auto job = workers->take_back(token, id)) return job;
    }
    return nullptr;
}

std::vector<Job> Pool::take_back_claim(ClaimToken token) {
    std::vector<Job> all;
    for (const auto& [name, workers] : queues_) append(all, workers->take_back_claim(token));
    return all;
}

std::vector<RunningJob> Pool::running() const {
    std::vector<RunningJob> all;
    for (const auto& [name, workers] : queues_) append(all, workers->running());
    return all;
}

bool Pool::runs_on_this_thread() const {
    return std::any_of(queues_.begin(), queues_.end(),
                       [](const auto& queue) { return queue.second->runs_on_this_thread(); });
}

int Pool::request_stop(ClaimToken token, JobId id, StopReason reason) {
    int asked = 0;
    for (const auto& job : running()) {
        const model::ClaimSlot& slot = job.run->job()->slot;
        if (slot.token == token && slot.id == id && job.run->request_stop(reason)) ++asked;
    }
    return asked;
}

int Pool::request_stop(StopReason reason) {
    int asked = 0;
    for (const auto& job : running()) {
        if (job.run->request_stop(reason)) ++asked;
    }
    return asked;
}

void Pool::abandon(const std::shared_ptr<StopState>& run) {
    if (auto* const workers = find(run->job()->queue)) workers->abandon(run);
}

std::vector<Job> Pool::close() {
    std::vector<Job> all;
    for (const auto& [name, workers] : queues_) append(all, workers->close());
    return all;
}

bool Pool::wait_idle(SteadyTime until) const {
    const auto idle = [until](const auto& queue) { return queue.second->wait_idle(until); };
    return std::all_of(queues_.begin(), queues_.end(), idle);
}

std::vector<RunningJob> Pool::finish(SteadyTime until) {
    std::vector<RunningJob> left;
    for (const auto& [name, workers] : queues_) append(left, workers->finish(until));
    return left;
}

}  // namespace pawl::worker
