#pragma once

#include <bitset>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/events.hpp>
#include <pawl/subscription.hpp>

#include "base/log.hpp"
#include "base/thread.hpp"

namespace pawl::observe {

/// Types of events, by their position in Event.
using EventTypes = std::bitset<detail::event_types>;

template <detail::AnEvent... E>
[[nodiscard]] EventTypes event_types() {
    EventTypes types;
    (types.set(detail::event_type<E>), ...);
    return types;
}

/// Brings events to the listeners, in order, on a thread of its own.
///
/// The queue is bounded: when listeners are slower than the events, the oldest are dropped, counted, and told by an
/// `EventsDropped`. A listener that throws stays subscribed; the others are called, and a `MisbehavingHook` follows.
/// Events published before start() wait for it; those published after stop() are gone.
///
/// **Threads**: safe from any thread, from listeners too.
class EventBus {
public:
    class Core;

    struct Options {
        /// How many events may wait; at least 1.
        std::size_t capacity = 10'000;
    };

    EventBus(Options options, std::shared_ptr<const Clock> clock, std::shared_ptr<const base::Log> log);
    EventBus(const EventBus&) = delete;
    EventBus& operator=(const EventBus&) = delete;
    /// Stops without waiting for what is queued.
    ~EventBus();

    /// No thread before this.
    void start();

    /// Takes no more events, waits until the queued ones are delivered, but not longer than the bound, drops the rest, and ends
    /// the thread. A listener that has not come back a second later keeps its thread: it is abandoned. Idempotent; called by a listener, it waits for
    /// nothing. False when events or a listener were left behind.
    bool stop(std::chrono::nanoseconds flush_bound) noexcept;

    /// The node named by the events that the bus itself makes.
    void set_node(std::int64_t node) noexcept;
    /// Zero before that.
    [[nodiscard]] std::int64_t node() const noexcept;

    /// Whether anybody listens: ask before building an event.
    template <detail::AnEvent E>
    [[nodiscard]] bool wanted() const noexcept {
        return wanted(detail::event_type<E>);
    }
    [[nodiscard]] bool wanted(std::size_t type) const noexcept;

    /// Never blocks on a listener, and never throws: an event for which there is no memory counts as dropped.
    void publish(Event event) noexcept;
    /// All of them in a row, under one lock.
    void publish(std::vector<Event> events) noexcept;

    /// **Lifetime**: the callback is called on the event thread until the subscription has ended.
    template <detail::AnEvent E, class Callback>
    [[nodiscard]] Subscription subscribe(Callback&& callback) {
        return subscribe(event_types<E>(), detail::make_listener<E>(std::forward<Callback>(callback)));
    }
    /// One listener for several types.
    [[nodiscard]] Subscription subscribe(const EventTypes& types, std::unique_ptr<detail::Listener> listener);

    /// Waits until what was published before is delivered or dropped; false when the bound came first. Not from a listener.
    [[nodiscard]] bool wait_delivered(std::chrono::nanoseconds bound) const;

private:
    std::shared_ptr<Core> core_;
    base::Thread thread_;
};

}  // namespace pawl::observe
