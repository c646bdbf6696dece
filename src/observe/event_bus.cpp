#include "observe/event_bus.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>

#include "base/mutex.hpp"

namespace pawl {
namespace detail {

Listener::~Listener() = default;

/// One listener, between the subscriber who may end it and the event thread that calls it.
class SubscriptionState {
public:
    SubscriptionState(std::unique_ptr<Listener> listener, std::weak_ptr<observe::EventBus::Core> bus)
        : listener_(std::move(listener)), bus_(std::move(bus)) {}

    /// Calls the listener unless it was ended. **Throws** what the listener throws.
    void call(const Event& event) PAWL_EXCLUDES(mutex_);
    void end() noexcept PAWL_EXCLUDES(mutex_);

private:
    void finish_call() noexcept PAWL_EXCLUDES(mutex_);

    base::Mutex mutex_;
    base::CondVar returned_;
    // Set while the listener is called: by which thread.
    std::thread::id caller_ PAWL_GUARDED_BY(mutex_);
    bool ended_ PAWL_GUARDED_BY(mutex_) = false;
    /// By its own callback.
    bool ended_within_ PAWL_GUARDED_BY(mutex_) = false;
    std::unique_ptr<Listener> listener_ PAWL_GUARDED_BY(mutex_);
    const std::weak_ptr<observe::EventBus::Core> bus_;
};

}  // namespace detail

namespace observe {
namespace {

using base::MutexLock;
using detail::SubscriptionState;
using Listeners = std::vector<std::shared_ptr<SubscriptionState>>;

// Events are taken out in small portions, so that what waits stays within the capacity.
constexpr std::size_t portion = 64;

// For the call under way when the queue could not be flushed in time.
constexpr auto last_call_bound = std::chrono::seconds(1);

}  // namespace

/// What the event thread and the subscriptions share with the bus.
class EventBus::Core {
public:
    Core(Options options, std::shared_ptr<const Clock> clock, std::shared_ptr<const base::Log> log)
        : capacity_(std::max<std::size_t>(options.capacity, 1)), clock_(std::move(clock)), log_(std::move(log)) {}

    [[nodiscard]] bool wanted(std::size_t type) const noexcept {
        return wanted_[type].load(std::memory_order_relaxed) != 0;
    }

    template <class Events>
    void publish(Events&& events) noexcept {
        bool wake = false;
        {
            const MutexLock lock{mutex_};
            if (closed_) return;
            wake = queue_.empty();
            for (Event& event : events) {
                if (wanted(event.index())) push(std::move(event));
            }
            wake = wake && !queue_.empty();
        }
        if (wake) changed_.notify_all();
    }

    void add(const EventTypes& types, std::shared_ptr<SubscriptionState> state);
    void remove(const SubscriptionState* state) noexcept;

    void run() noexcept;
    void close() noexcept;
    void discard() noexcept;
    bool wait_delivered(std::chrono::steady_clock::time_point until) PAWL_EXCLUDES(mutex_);
    void set_node(std::int64_t node) noexcept { node_.store(node, std::memory_order_relaxed); }
    std::int64_t node() const noexcept { return node_.load(std::memory_order_relaxed); }

private:
    void push(Event&& event) noexcept PAWL_REQUIRES(mutex_);
    void tell_dropped() noexcept PAWL_REQUIRES(mutex_);
    bool take(std::vector<Event>& events) PAWL_EXCLUDES(mutex_);
    void deliver(const Event& event) noexcept PAWL_EXCLUDES(mutex_);
    void listener_threw(const Event& event) noexcept PAWL_EXCLUDES(mutex_);
    std::shared_ptr<const Listeners> listeners_of(std::size_t type) PAWL_EXCLUDES(mutex_);
    NodeEvent said_now() const { return {clock_->now(), node_.load(std::memory_order_relaxed)}; }

    const std::size_t capacity_;
    const std::shared_ptr<const Clock> clock_;
    const std::shared_ptr<const base::Log> log_;
    std::atomic<std::int64_t> node_{0};
    std::atomic<bool> discarding_{false};
    // How many listen to each type; read without the lock by whoever is about to build an event.
    std::array<std::atomic<std::uint32_t>, detail::event_types> wanted_{};

    base::Mutex mutex_;
    base::CondVar changed_;
    std::deque<Event> queue_ PAWL_GUARDED_BY(mutex_);
    std::int64_t dropped_ PAWL_GUARDED_BY(mutex_) = 0;
    // Positions in the stream of events: what was taken in, and what is delivered or dropped.
    std::uint64_t entered_ PAWL_GUARDED_BY(mutex_) = 0;
    std::uint64_t left_ PAWL_GUARDED_BY(mutex_) = 0;
    std::size_t in_hand_ PAWL_GUARDED_BY(mutex_) = 0;
    bool closed_ PAWL_GUARDED_BY(mutex_) = false;
    // Replaced as a whole, so that the event thread walks a list that nobody changes.
    std::array<std::shared_ptr<const Listeners>, detail::event_types> listeners_ PAWL_GUARDED_BY(mutex_);
};

void EventBus::Core::push(Event&& event) noexcept {
    ++entered_;
    try {
        queue_.push_back(std::move(event));
    } catch (...) {
        ++dropped_;
        ++left_;
        return;
    }
    if (queue_.size() > capacity_) {
        queue_.pop_front();
        ++dropped_;
        ++left_;
    }
}

void EventBus::Core::add(const EventTypes& types, std::shared_ptr<SubscriptionState> state) {
    const MutexLock lock{mutex_};
    auto changed = listeners_;
    for (std::size_t type = 0; type < types.size(); ++type) {
        if (!types.test(type)) continue;
        auto listeners = changed[type] ? std::make_shared<Listeners>(*changed[type]) : std::make_shared<Listeners>();
        listeners->push_back(state);
        changed[type] = std::move(listeners);
    }
    listeners_.swap(changed);
    for (std::size_t type = 0; type < types.size(); ++type) {
        if (types.test(type)) wanted_[type].fetch_add(1, std::memory_order_relaxed);
    }
}

void EventBus::Core::remove(const SubscriptionState* state) noexcept {
    const MutexLock lock{mutex_};
    for (std::size_t type = 0; type < detail::event_types; ++type) {
        const auto& present = listeners_[type];
        if (!present) continue;
        const auto is_it = [state](const auto& listener) { return listener.get() == state; };
        if (std::none_of(present->begin(), present->end(), is_it)) continue;
        wanted_[type].fetch_sub(1, std::memory_order_relaxed);
        try {
            auto listeners = std::make_shared<Listeners>(*present);
            listeners->erase(std::remove_if(listeners->begin(), listeners->end(), is_it), listeners->end());
            listeners_[type] = std::move(listeners);
        } catch (...) {
            // Out of memory: the entry stays, ended and deaf. When it was the only one, nothing is needed to drop it.
            if (present->size() == 1) listeners_[type] = nullptr;
        }
    }
}

std::shared_ptr<const Listeners> EventBus::Core::listeners_of(std::size_t type) {
    const MutexLock lock{mutex_};
    return listeners_[type];
}

void EventBus::Core::tell_dropped() noexcept {
    if (dropped_ == 0) return;
    if (wanted(detail::event_type<EventsDropped>)) {
        // Before all that is left: that is where they are missing.
        try {
            queue_.push_front(EventsDropped{said_now(), dropped_});
            ++entered_;
        } catch (...) {
            return;
        }
    }
    dropped_ = 0;
}

bool EventBus::Core::take(std::vector<Event>& events) {
    const MutexLock lock{mutex_};
    left_ += in_hand_;
    in_hand_ = 0;
    changed_.notify_all();
    while (queue_.empty()) {
        if (closed_) return false;
        changed_.wait(mutex_);
    }
    tell_dropped();
    const auto taken = std::min(queue_.size(), portion);
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(taken);
    std::move(queue_.begin(), end, std::back_inserter(events));
    queue_.erase(queue_.begin(), end);
    in_hand_ = taken;
    return true;
}

void EventBus::Core::run() noexcept {
    std::vector<Event> events;
    events.reserve(portion);
    while (take(events)) {
        for (const auto& event : events) {
            if (!discarding_.load(std::memory_order_relaxed)) deliver(event);
        }
        events.clear();
    }
}

void EventBus::Core::deliver(const Event& event) noexcept {
    const auto listeners = listeners_of(event.index());
    if (!listeners) return;
    for (const auto& listener : *listeners) {
        try {
            listener->call(event);
        } catch (...) {
            listener_threw(event);
        }
    }
}

void EventBus::Core::listener_threw(const Event& event) noexcept {
    // What it threw is not written: its text did not go through a sanitizer.
    log_->error("a listener of {} threw; it stays subscribed", name_of(event));
    // A listener of this very event that throws would go round for ever.
    if (std::holds_alternative<MisbehavingHook>(event) || !wanted(detail::event_type<MisbehavingHook>)) return;
    try {
        Event misbehaving = MisbehavingHook{said_now(), "listener of " + std::string(name_of(event))};
        const MutexLock lock{mutex_};
        // Also after close(): this thread goes on until nothing is left.
        push(std::move(misbehaving));
    } catch (...) {
        log_->error("the event about it could not be published");
    }
}

void EventBus::Core::close() noexcept {
    const MutexLock lock{mutex_};
    closed_ = true;
    changed_.notify_all();
}

void EventBus::Core::discard() noexcept {
    discarding_.store(true, std::memory_order_relaxed);
    const MutexLock lock{mutex_};
    left_ += queue_.size();
    queue_.clear();
}

bool EventBus::Core::wait_delivered(std::chrono::steady_clock::time_point until) {
    const MutexLock lock{mutex_};
    const auto wanted = entered_;
    while (left_ < wanted) {
        if (!changed_.wait_until(mutex_, until) && left_ < wanted) return false;
    }
    return true;
}

EventBus::EventBus(Options options, std::shared_ptr<const Clock> clock, std::shared_ptr<const base::Log> log)
    : core_(std::make_shared<Core>(options, std::move(clock), std::move(log))) {}

EventBus::~EventBus() { static_cast<void>(stop(std::chrono::nanoseconds::zero())); }

void EventBus::start() {
    if (!thread_.joinable()) thread_ = base::Thread{"pawl-events", [core = core_] { core->run(); }};
}

bool EventBus::stop(std::chrono::nanoseconds flush_bound) noexcept {
    core_->close();
    if (!thread_.joinable() || thread_.is_current()) return false;
    const auto bound = std::chrono::steady_clock::now() + flush_bound;
    if (thread_.join_until(bound)) return true;
    core_->discard();
    if (!thread_.join_until(bound + last_call_bound)) thread_.abandon();
    return false;
}

void EventBus::set_node(std::int64_t node) noexcept { core_->set_node(node); }
std::int64_t EventBus::node() const noexcept { return core_->node(); }

bool EventBus::wanted(std::size_t type) const noexcept { return core_->wanted(type); }

void EventBus::publish(Event event) noexcept {
    std::array<Event, 1> events{std::move(event)};
    core_->publish(events);
}

void EventBus::publish(std::vector<Event> events) noexcept { core_->publish(events); }

Subscription EventBus::subscribe(const EventTypes& types, std::unique_ptr<detail::Listener> listener) {
    auto state = std::make_shared<SubscriptionState>(std::move(listener), core_);
    core_->add(types, state);
    return Subscription{std::move(state)};
}

bool EventBus::wait_delivered(std::chrono::nanoseconds bound) const {
    return core_->wait_delivered(std::chrono::steady_clock::now() + bound);
}

}  // namespace observe

namespace detail {

void SubscriptionState::call(const Event& event) {
    Listener* listener = nullptr;
    {
        const base::MutexLock lock{mutex_};
        if (ended_) return;
        caller_ = std::this_thread::get_id();
        listener = listener_.get();
    }
    struct Finish {
        SubscriptionState& state;
        ~Finish() { state.finish_call(); }
    } const finish{*this};
    listener->hear(event);
}

void SubscriptionState::finish_call() noexcept {
    // Destroyed last, without the lock: it is user code.
    std::unique_ptr<Listener> ended;
    const base::MutexLock lock{mutex_};
    caller_ = {};
    // Whoever ends it from elsewhere waits for this call, and then takes it.
    if (ended_within_) ended = std::move(listener_);
    returned_.notify_all();
}

void SubscriptionState::end() noexcept {
    std::unique_ptr<Listener> ended;
    {
        const base::MutexLock lock{mutex_};
        ended_ = true;
        ended_within_ = caller_ == std::this_thread::get_id();
        if (!ended_within_) {
            while (caller_ != std::thread::id{}) returned_.wait(mutex_);
            ended = std::move(listener_);
        }
    }
    if (const auto bus = bus_.lock()) bus->remove(this);
}

}  // namespace detail

Subscription::Subscription() noexcept = default;

Subscription::Subscription(std::shared_ptr<detail::SubscriptionState> state) noexcept : state_(std::move(state)) {}

Subscription::Subscription(Subscription&&) noexcept = default;

Subscription& Subscription::operator=(Subscription&& other) noexcept {
    if (this == &other) return *this;
    end();
    state_ = std::move(other.state_);
    return *this;
}

Subscription::~Subscription() { end(); }

void Subscription::end() noexcept {
    if (const auto state = std::exchange(state_, nullptr)) state->end();
}

}  // namespace pawl
