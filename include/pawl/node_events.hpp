#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <pawl/clock.hpp>
#include <pawl/error_record.hpp>
#include <pawl/health.hpp>

namespace pawl {

/// What every event that is not about a job carries.
struct NodeEvent {
    /// By the wall clock of the host, for people.
    Time time{};
    /// The node that says it.
    std::int64_t node{};
};

/// A listener or another hook threw. It stays subscribed, and the others were called.
struct MisbehavingHook : NodeEvent {
    std::string where;
};

struct NodeStarted : NodeEvent {};
struct NodeStopped : NodeEvent {};

/// This node declared another one dead.
struct NodeExpired : NodeEvent {
    std::int64_t expired_node{};
};

/// This node could not heartbeat for the expiry time, and stopped its handlers.
struct NodeFenced : NodeEvent {};

/// A handler threw `WorkerFatal` or a type configured as fatal: this scheduler takes no more jobs.
struct WorkerStopped : NodeEvent {
    ErrorRecord record;
};

/// What is wrong with this scheduler has changed: something is, or no longer is.
struct HealthChanged : NodeEvent {
    Health health;
};

/// What every event about a queue carries.
struct QueueEvent : NodeEvent {
    std::string queue;
    std::string by;
    std::string why;
};

struct QueuePaused : QueueEvent {};
struct QueueResumed : QueueEvent {};

/// A dead letter halted its queue.
struct QueueHalted : QueueEvent {};

/// What every event about a circuit breaker carries.
struct BreakerEvent : NodeEvent {
    std::string service;
};

struct BreakerOpened : BreakerEvent {};
struct BreakerHalfOpen : BreakerEvent {};
struct BreakerClosed : BreakerEvent {};

/// Rows older than their retention were removed.
struct Purged : NodeEvent {
    std::int64_t jobs{};
    std::int64_t attempts{};
};

/// Listeners are slower than the events: the oldest were dropped.
struct EventsDropped : NodeEvent {
    /// Since the last event of this type.
    std::int64_t count{};
};

/// A long transaction keeps dead rows from being cleaned up.
struct HorizonHeld : NodeEvent {
    /// The backend, as `pg_stat_activity` names it.
    std::string holder;
    std::chrono::microseconds held{};
};

}  // namespace pawl
