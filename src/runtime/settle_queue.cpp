#include "runtime/settle_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pawl::runtime {

void SettleQueue::add(Decided decided) {
    bool first = false;
    {
        const base::MutexLock lock(mutex_);
        while (waiting_.size() >= bound && !wide_) room_.wait(mutex_);
        first = waiting_.empty();
        waiting_.push_back(std::move(decided));
    }
    if (first && poke_) poke_();
}

void SettleQueue::add_all(std::vector<Decided> decided) {
    {
        const base::MutexLock lock(mutex_);
        std::move(decided.begin(), decided.end(), std::back_inserter(waiting_));
    }
    if (!decided.empty() && poke_) poke_();
}

std::vector<Decided> SettleQueue::take(std::size_t most) {
    std::vector<Decided> batch;
    {
        const base::MutexLock lock(mutex_);
        const auto count = static_cast<std::ptrdiff_t>(std::min(most, waiting_.size()));
        batch.reserve(static_cast<std::size_t>(count));
        std::move(waiting_.begin(), waiting_.begin() + count, std::back_inserter(batch));
        waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    }
    if (!batch.empty()) room_.notify_all();
    return batch;
}

void SettleQueue::answer(const Decided& decided, bool applied) {
    if (!decided.answer) return;
    {
        const base::MutexLock lock(mutex_);
        decided.answer->applied = applied;
    }
    answered_.notify_all();
}

bool SettleQueue::wait_applied(const Answer& answer) {
    const base::MutexLock lock(mutex_);
    while (!answer.applied && !wide_) answered_.wait(mutex_);
    return answer.applied.value_or(false);
}

bool SettleQueue::empty() const { return size() == 0; }

std::size_t SettleQueue::size() const {
    const base::MutexLock lock(mutex_);
    return waiting_.size();
}

void SettleQueue::open_wide() {
    {
        const base::MutexLock lock(mutex_);
        wide_ = true;
    }
    room_.notify_all();
    answered_.notify_all();
}

}  // namespace pawl::runtime
