#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <pawl/scheduler.hpp>

#include "base/mutex.hpp"

namespace pawl::tests {

/// Every event of one type that a scheduler has told, to be waited for.
template <class E>
class Heard {
public:
    explicit Heard(Scheduler& scheduler)
        : subscription_(scheduler.on_event<E>([this](const E& event) {
              const base::MutexLock lock(mutex_);
              events_.push_back(event);
              changed_.notify_all();
          })) {}

    /// True once there were that many in all; false after the bound.
    [[nodiscard]] bool wait(std::size_t times = 1, std::chrono::seconds bound = std::chrono::seconds(20)) {
        return wait_for([times](const std::vector<E>& events) { return events.size() >= times; }, bound);
    }
    [[nodiscard]] bool wait_of(JobId id) {
        return wait_for([id](const std::vector<E>& events) {
            return std::any_of(events.begin(), events.end(), [id](const E& event) { return event.id == id; });
        });
    }
    [[nodiscard]] std::vector<E> all() {
        const base::MutexLock lock(mutex_);
        return events_;
    }
    [[nodiscard]] std::size_t count() { return all().size(); }

private:
    [[nodiscard]] bool wait_for(const std::function<bool(const std::vector<E>&)>& enough,
                                std::chrono::seconds bound = std::chrono::seconds(20)) {
        const auto until = std::chrono::steady_clock::now() + bound;
        const base::MutexLock lock(mutex_);
        while (!enough(events_)) {
            if (!changed_.wait_until(mutex_, until) && !enough(events_)) return false;
        }
        return true;
    }

    base::Mutex mutex_;
    base::CondVar changed_;
    std::vector<E> events_ PAWL_GUARDED_BY(mutex_);
    Subscription subscription_;
};

}  // namespace pawl::tests
