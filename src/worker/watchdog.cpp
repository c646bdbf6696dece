#include "worker/watchdog.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/mutex.hpp"

namespace pawl::worker {

using base::MutexLock;
using SteadyClock = std::chrono::steady_clock;

struct Watch::Entry {
    std::shared_ptr<StopState> run;
    Deadlines deadlines;
    std::weak_ptr<Watchdog::Core> watchdog;
    std::atomic<bool> ended{false};
};

class Watchdog::Core {
public:
    using Entry = std::shared_ptr<Watch::Entry>;

    Core(Options options, std::shared_ptr<const base::Log> log) : options_(std::move(options)), log_(std::move(log)) {}

    void add(Entry entry) PAWL_EXCLUDES(mutex_);
    // The entry stays on the heap until its time or a sweep: taking it out of the middle would cost a search.
    void count_ended() noexcept PAWL_EXCLUDES(mutex_);
    void run() noexcept PAWL_EXCLUDES(mutex_);
    void stop() noexcept PAWL_EXCLUDES(mutex_);
    std::size_t size() const PAWL_EXCLUDES(mutex_);

private:
    enum class Stage : unsigned char { soft_limit, hard_limit, overdue };

    struct Deadline {
        SteadyTime at;
        Stage stage;
        Entry entry;
        // A heap has its largest element on top, and the earliest is wanted there.
        friend bool operator<(const Deadline& a, const Deadline& b) noexcept { return a.at > b.at; }
    };

    void push(Deadline deadline) PAWL_REQUIRES(mutex_);
    void sweep() noexcept PAWL_REQUIRES(mutex_);
    bool take_due(Deadline& due) PAWL_EXCLUDES(mutex_);
    void handle(Deadline due) noexcept PAWL_EXCLUDES(mutex_);
    void call(const Callback& callback, const Entry& entry) noexcept;

    const Options options_;
    const std::shared_ptr<const base::Log> log_;

    mutable base::Mutex mutex_;
    base::CondVar earlier_;
    std::vector<Deadline> heap_ PAWL_GUARDED_BY(mutex_);
    std::size_t ended_ PAWL_GUARDED_BY(mutex_) = 0;
    bool stopped_ PAWL_GUARDED_BY(mutex_) = false;
};

void Watchdog::Core::push(Deadline deadline) {
    const bool first = heap_.empty() || deadline.at < heap_.front().at;
    heap_.push_back(std::move(deadline));
    std::push_heap(heap_.begin(), heap_.end());
    if (first) earlier_.notify_one();
}

void Watchdog::Core::add(Entry entry) {
    const auto& deadlines = entry->deadlines;
    const bool soft = deadlines.soft_at < deadlines.hard_at;
    const MutexLock lock{mutex_};
    push(
        {soft ? deadlines.soft_at : deadlines.hard_at, soft ? Stage::soft_limit : Stage::hard_limit, std::move(entry)});
}

void Watchdog::Core::count_ended() noexcept {
    constexpr std::size_t worth_a_sweep = 64;
    const MutexLock lock{mutex_};
    ++ended_;
    // Once per as many ends as there are entries to look at: each end pays for a constant number of looks.
    if (ended_ >= worth_a_sweep && ended_ * 2 >= heap_.size()) sweep();
}

void Watchdog::Core::sweep() noexcept {
    const auto ended = [](const Deadline& deadline) { return deadline.entry->ended.load(std::memory_order_relaxed); };
    heap_.erase(std::remove_if(heap_.begin(), heap_.end(), ended), heap_.end());
    std::make_heap(heap_.begin(), heap_.end());
    ended_ = 0;
}

bool Watchdog::Core::take_due(Deadline& due) {
    const MutexLock lock{mutex_};
    while (!stopped_) {
        if (heap_.empty()) {
            earlier_.wait(mutex_);
            continue;
        }
        const auto at = heap_.front().at;
        if (at > SteadyClock::now()) {
            earlier_.wait_until(mutex_, at);
            continue;
        }
        std::pop_heap(heap_.begin(), heap_.end());
        due = std::move(heap_.back());
        heap_.pop_back();
        if (!due.entry->ended.load(std::memory_order_relaxed)) return true;
        if (ended_ > 0) --ended_;
        due.entry.reset();
    }
    return false;
}

void Watchdog::Core::call(const Callback& callback, const Entry& entry) noexcept {
    if (!callback) return;
    try {
        callback(entry->run);
    } catch (...) {
        const auto& job = *entry->run->job();
        log_->line(base::LogLevel::error, {job.slot.id, job.kind, job.attempt()}, "what watches the time limits threw");
    }
}

void Watchdog::Core::handle(Deadline due) noexcept {
    const auto& deadlines = due.entry->deadlines;
    switch (due.stage) {
        case Stage::soft_limit:
            call(options_.on_soft_limit, due.entry);
            due.stage = Stage::hard_limit;
            due.at = deadlines.hard_at;
            break;
        case Stage::hard_limit:
            due.entry->run->request_stop(StopReason::hard_limit);
            due.stage = Stage::overdue;
            due.at = deadlines.hard_at + options_.grace;
            break;
        case Stage::overdue:
            if (!due.entry->run->verdict_claimed()) call(options_.on_overdue, due.entry);
            if (due.entry->run->verdict_claimed()) return;
            due.at =
                SteadyClock::now() + std::max<std::chrono::nanoseconds>(options_.grace, std::chrono::milliseconds(1));
            break;
    }
    if (due.entry->ended.load(std::memory_order_relaxed)) return;
    try {
        const MutexLock lock{mutex_};
        push(std::move(due));
    } catch (...) {
        log_->error("a run is no longer watched: out of memory");
    }
}

void Watchdog::Core::run() noexcept {
    Deadline due{};
    while (take_due(due)) handle(std::move(due));
}

void Watchdog::Core::stop() noexcept {
    const MutexLock lock{mutex_};
    stopped_ = true;
    earlier_.notify_all();
}

std::size_t Watchdog::Core::size() const {
    const MutexLock lock{mutex_};
    return heap_.size();
}

Watch::Watch(std::shared_ptr<Entry> entry) noexcept : entry_(std::move(entry)) {}

Watch& Watch::operator=(Watch&& other) noexcept {
    if (this == &other) return *this;
    end();
    entry_ = std::move(other.entry_);
    return *this;
}

Watch::~Watch() { end(); }

void Watch::end() noexcept {
    const auto entry = std::exchange(entry_, nullptr);
    if (!entry) return;
    entry->ended.store(true, std::memory_order_relaxed);
    if (const auto watchdog = entry->watchdog.lock()) watchdog->count_ended();
}

Watchdog::Watchdog(Options options, std::shared_ptr<const base::Log> log)
    : core_(std::make_shared<Core>(std::move(options), std::move(log))) {}

Watchdog::~Watchdog() { stop(); }

void Watchdog::start() {
    if (!thread_.joinable()) thread_ = base::Thread{"pawl-watchdog", [core = core_] { core->run(); }};
}

void Watchdog::stop() noexcept {
    core_->stop();
    thread_.join();
}

Watch Watchdog::watch(std::shared_ptr<StopState> run, Deadlines deadlines) {
    auto entry = std::make_shared<Watch::Entry>();
    entry->run = std::move(run);
    entry->deadlines = deadlines;
    entry->watchdog = core_;
    core_->add(entry);
    return Watch{std::move(entry)};
}

std::size_t Watchdog::size() const { return core_->size(); }

}  // namespace pawl::worker
