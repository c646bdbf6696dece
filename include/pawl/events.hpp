#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include <pawl/export.hpp>
#include <pawl/job_events.hpp>
#include <pawl/node_events.hpp>

namespace pawl {

/// Whatever happened. Events are published only after the commit that made them true, but for `JobStarted`,
/// `JobSoftLimit` and those about threads, which nothing commits. Error text occurs only as a sanitized record.
using Event = std::variant<JobStarted, JobSucceeded, JobRetrying, JobSnoozed, JobInterrupted, JobSoftLimit,
                           JobExecutionTimedOut, JobFailed, JobDlq, JobDiscarded, PoisonOrBug, JobCanceled, JobPaused,
                           JobResumed, JobRedriven, StaleOutcome, JobRescued, MisbehavingPolicy, ThreadAbandoned,
                           ThreadReturned, MisbehavingHook, NodeStarted, NodeStopped, NodeExpired, NodeFenced,
                           WorkerStopped, HealthChanged, QueuePaused, QueueResumed, QueueHalted, BreakerOpened,
                           BreakerHalfOpen, BreakerClosed, Purged, EventsDropped, HorizonHeld>;

/// The event's name as it is written in code: "JobStarted".
[[nodiscard]] PAWL_EXPORT std::string_view name_of(const Event& event) noexcept;

namespace detail {

template <class Wanted, class... All>
constexpr std::size_t position_in(const std::variant<All...>*) noexcept {
    std::size_t position = 0;
    static_cast<void>(((std::is_same_v<Wanted, All> ? true : (++position, false)) || ...));
    return position;
}

inline constexpr std::size_t event_types = std::variant_size_v<Event>;

/// The position of E among the events.
template <class E>
inline constexpr std::size_t event_type = position_in<E>(static_cast<const Event*>(nullptr));

template <class E>
concept AnEvent = event_type<E> < event_types;

}  // namespace detail
}  // namespace pawl
