#include <array>

#include <pawl/events.hpp>

namespace pawl {
namespace {

// In the order of Event; a test compares them with the types.
constexpr std::array<std::string_view, detail::event_types> names{
    "JobStarted",      "JobSucceeded",         "JobRetrying",       "JobSnoozed",      "JobInterrupted",
    "JobSoftLimit",    "JobExecutionTimedOut", "JobFailed",         "JobDlq",          "JobDiscarded",
    "PoisonOrBug",     "JobCanceled",          "JobPaused",         "JobResumed",      "JobRedriven",
    "StaleOutcome",    "JobRescued",           "MisbehavingPolicy", "ThreadAbandoned", "ThreadReturned",
    "MisbehavingHook", "NodeStarted",          "NodeStopped",       "NodeExpired",     "NodeFenced",
    "WorkerStopped",   "HealthChanged",        "QueuePaused",       "QueueResumed",    "QueueHalted",
    "BreakerOpened",   "BreakerHalfOpen",      "BreakerClosed",     "Purged",          "EventsDropped",
    "HorizonHeld"};

}  // namespace

std::string_view name_of(const Event& event) noexcept {
    return event.valueless_by_exception() ? std::string_view{} : names[event.index()];
}

}  // namespace pawl
