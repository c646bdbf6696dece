#include "runtime/owed_calls.hpp"

#include <deque>
#include <utility>

namespace pawl::runtime {
namespace {

/// Callbacks that wait behind one that does not come back are not kept without end.
constexpr std::size_t most_waiting = 10'000;

}  // namespace

/// What the thread shares, and may outlive.
class OwedCalls::Core {
public:
    Core(std::shared_ptr<SettleQueue> queue, std::shared_ptr<const Publisher> publisher,
         std::shared_ptr<const base::Log> log)
        : queue_(std::move(queue)), publisher_(std::move(publisher)), log_(std::move(log)) {}

    void call(Owed owed) const {
        if (!queue_->wait_applied(*owed.answer)) return;
        failure::Notes notes;
        notes.hooks = std::move(owed.hooks);
        failure::run_hooks(notes);
        for (const failure::Misbehavior& misbehavior : notes.misbehaving_hooks)
            publisher_->node_event(MisbehavingHook{{}, misbehavior.where});
    }

    void add(std::vector<Owed> owed) PAWL_EXCLUDES(mutex_) {
        std::size_t dropped = 0;
        {
            const base::MutexLock lock(mutex_);
            for (Owed& one : owed) {
                if (waiting_.size() < most_waiting) {
                    waiting_.push_back(std::move(one));
                } else {
                    ++dropped;
                }
            }
        }
        changed_.notify_all();
        if (dropped > 0) log_->error("the callbacks of {} lost jobs are not called: too many wait", dropped);
    }

    void run() PAWL_EXCLUDES(mutex_) {
        while (true) {
            Owed next;
            {
                const base::MutexLock lock(mutex_);
                while (waiting_.empty() && !closed_) changed_.wait(mutex_);
                if (waiting_.empty()) return;
                next = std::move(waiting_.front());
                waiting_.pop_front();
            }
            try {
                call(std::move(next));
            } catch (const std::exception& error) {  // Memory that ran out: what callbacks throw is contained.
                log_->error("a callback was not called: {}", error.what());
            }
        }
    }

    /// What is waiting is still called, unless it is to be dropped.
    void close(bool drop) noexcept PAWL_EXCLUDES(mutex_) {
        const base::MutexLock lock(mutex_);
        closed_ = true;
        if (drop) waiting_.clear();
        changed_.notify_all();
    }

private:
    const std::shared_ptr<SettleQueue> queue_;
    const std::shared_ptr<const Publisher> publisher_;
    const std::shared_ptr<const base::Log> log_;
    base::Mutex mutex_;
    base::CondVar changed_;
    std::deque<Owed> waiting_ PAWL_GUARDED_BY(mutex_);
    bool closed_ PAWL_GUARDED_BY(mutex_) = false;
};

OwedCalls::OwedCalls(std::shared_ptr<SettleQueue> queue, std::shared_ptr<const Publisher> publisher,
                     std::shared_ptr<const base::Log> log)
    : core_(std::make_shared<Core>(std::move(queue), std::move(publisher), std::move(log))) {}

OwedCalls::~OwedCalls() { stop({}); }

void OwedCalls::call(Owed owed) const {
    if (!owed.hooks.empty()) core_->call(std::move(owed));
}

void OwedCalls::call_later(std::vector<Owed> owed) {
    std::erase_if(owed, [](const Owed& one) { return one.hooks.empty(); });
    if (owed.empty()) return;
    core_->add(std::move(owed));
    const base::MutexLock lock(mutex_);
    if (!stopped_ && !thread_.joinable()) thread_ = base::Thread("pawl callbacks", [core = core_] { core->run(); });
}

void OwedCalls::stop(std::chrono::steady_clock::time_point until) noexcept {
    base::Thread thread;
    {
        const base::MutexLock lock(mutex_);
        stopped_ = true;
        thread = std::move(thread_);
    }
    core_->close(false);
    if (!thread.joinable() || thread.join_until(until)) return;
    core_->close(true);
    thread.abandon();
}

}  // namespace pawl::runtime
