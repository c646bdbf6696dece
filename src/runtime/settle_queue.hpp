#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "failure/decide.hpp"
#include "model/settlement.hpp"

namespace pawl::runtime {

/// What is told about a run beside its decision, once that is written.
struct Aftermath {
    std::vector<failure::Misbehavior> misbehaving_policies;
    bool poison_or_bug{};
    /// The hard limit that the run went beyond.
    std::optional<std::chrono::microseconds> timed_out{};
    /// The node that lost the job; zero when nobody did.
    model::NodeId rescued_from{};
    /// The kind's, for dead letters.
    std::string runbook;
    /// For releases.
    std::string why;
};

/// Whether a decided run was written: told by whoever settles it. Guarded by the queue that it went through.
struct Answer {
    std::optional<bool> applied;
};

struct Decided {
    model::Settlement settlement;
    Aftermath aftermath;
    /// Only where somebody waits for it.
    std::shared_ptr<Answer> answer{};
    /// The database refused its texts once, and they were replaced.
    bool reduced{};
};

/// Decided runs on their way into the store. While one batch is being written, the next gathers here.
///
/// **Threads**: safe from any thread.
class SettleQueue {
public:
    /// More than this waits only while the database is away or slow: then the workers wait in add().
    static constexpr std::size_t bound = 2048;

    /// Told after each add that met an empty queue, without a lock.
    void on_work(std::function<void()> poke) { poke_ = std::move(poke); }

    /// Waits while the queue is full, unless it was opened wide: then nothing waits any more.
    void add(Decided decided) PAWL_EXCLUDES(mutex_);
    /// Never waits: for the library's own threads.
    void add_all(std::vector<Decided> decided) PAWL_EXCLUDES(mutex_);

    [[nodiscard]] std::vector<Decided> take(std::size_t most) PAWL_EXCLUDES(mutex_);
    [[nodiscard]] bool empty() const PAWL_EXCLUDES(mutex_);
    [[nodiscard]] std::size_t size() const PAWL_EXCLUDES(mutex_);

    /// Tells those who wait for it. False as well for what can never be written.
    void answer(const Decided& decided, bool applied) PAWL_EXCLUDES(mutex_);
    /// Waits until it is known; false for what was stale, and for what is not known when the queue is opened wide.
    [[nodiscard]] bool wait_applied(const Answer& answer) PAWL_EXCLUDES(mutex_);

    /// Lets every add and every wait through from now on: a scheduler that stops must not hang on a database that is away.
    void open_wide() PAWL_EXCLUDES(mutex_);

private:
    mutable base::Mutex mutex_;
    base::CondVar room_;
    base::CondVar answered_;
    std::deque<Decided> waiting_ PAWL_GUARDED_BY(mutex_);
    bool wide_ PAWL_GUARDED_BY(mutex_) = false;
    // Set before the threads start.
    std::function<void()> poke_;
};

}  // namespace pawl::runtime
