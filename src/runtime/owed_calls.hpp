#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/thread.hpp"
#include "failure/decide.hpp"
#include "runtime/publisher.hpp"
#include "runtime/settle_queue.hpp"

namespace pawl::runtime {

/// The callbacks that a decided run owes to its kind, and where it is said whether the decision was written.
struct Owed {
    std::vector<failure::OwedHook> hooks;
    std::shared_ptr<const Answer> answer;
};

/// Runs callbacks of terminal failures once these are written, and tells of those that throw. What turned out stale, and
/// what cannot be known any more because the scheduler stops without the database, owes nothing.
///
/// **Threads**: safe from any thread.
/// **Lifetime**: shared with the threads that use it.
class OwedCalls {
public:
    OwedCalls(std::shared_ptr<SettleQueue> queue, std::shared_ptr<const Publisher> publisher,
              std::shared_ptr<const base::Log> log);
    OwedCalls(const OwedCalls&) = delete;
    OwedCalls& operator=(const OwedCalls&) = delete;
    /// Stops without waiting.
    ~OwedCalls();

    /// On this thread, which waits for the settle: for a worker, which keeps the live exception.
    void call(Owed owed) const;

    /// On a thread of its own, which begins with the first of them: for failures without an exception that were decided on
    /// a loop of the library, which must not wait for user code.
    void call_later(std::vector<Owed> owed) PAWL_EXCLUDES(mutex_);

    /// Waits for the thread until then; a callback that has not come back keeps it.
    void stop(std::chrono::steady_clock::time_point until) noexcept PAWL_EXCLUDES(mutex_);

private:
    class Core;

    const std::shared_ptr<Core> core_;
    base::Mutex mutex_;
    bool stopped_ PAWL_GUARDED_BY(mutex_) = false;
    base::Thread thread_ PAWL_GUARDED_BY(mutex_);
};

}  // namespace pawl::runtime
