#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/events.hpp>

#include "model/claimed_job.hpp"
#include "observe/event_bus.hpp"
#include "runtime/settle_queue.hpp"
#include "store/store.hpp"
#include "worker/stop_state.hpp"

namespace pawl::runtime {

/// Turns what happened into events. What was settled is told only once that is committed; what was stale only as such.
///
/// **Threads**: safe from any thread.
class Publisher {
public:
    Publisher(std::shared_ptr<observe::EventBus> events, std::shared_ptr<const Clock> clock)
        : events_(std::move(events)), clock_(std::move(clock)) {}

    void set_node(model::NodeId node) noexcept;
    [[nodiscard]] model::NodeId node() const noexcept { return node_.load(std::memory_order_relaxed); }

    /// One event about a run that nothing commits: JobStarted.
    void started(const model::ClaimedJob& job) const;
    void soft_limit(const worker::StopState& run, std::chrono::microseconds limit) const;
    void abandoned(const worker::StopState& run) const;
    void returned(const worker::StopState& run) const;

    /// The events of a batch, in the order of its runs.
    void settled(std::span<const Decided> batch, const store::Settled& settled) const;

    template <class E>
    void node_event(E event = {}) const {
        if (!events_->wanted<E>()) return;
        event.time = clock_->now();
        event.node = node();
        events_->publish(Event(std::move(event)));
    }

private:
    template <class E>
    [[nodiscard]] E about(const model::ClaimedJob& job) const;
    template <class E>
    void add(std::vector<Event>& events, E event) const;
    void applied(std::vector<Event>& events, const Decided& decided) const;

    std::shared_ptr<observe::EventBus> events_;
    std::shared_ptr<const Clock> clock_;
    std::atomic<model::NodeId> node_{0};
};

}  // namespace pawl::runtime
