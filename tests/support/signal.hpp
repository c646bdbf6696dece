#pragma once

#include <chrono>

#include "base/mutex.hpp"

namespace pawl::tests {

/// What a test waits for instead of sleeping: raised any number of times, waited for with a bound.
class Signal {
public:
    void raise() {
        const base::MutexLock lock{mutex_};
        ++raised_;
        changed_.notify_all();
    }

    /// True once it was raised that often in all; false after ten seconds.
    [[nodiscard]] bool wait(int times = 1) { return wait_for(std::chrono::seconds(10), times); }
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds bound, int times = 1) {
        const auto until = std::chrono::steady_clock::now() + bound;
        const base::MutexLock lock{mutex_};
        while (raised_ < times) {
            if (!changed_.wait_until(mutex_, until) && raised_ < times) return false;
        }
        return true;
    }

    [[nodiscard]] int raised() {
        const base::MutexLock lock{mutex_};
        return raised_;
    }

private:
    base::Mutex mutex_;
    base::CondVar changed_;
    int raised_ PAWL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pawl::tests
