#pragma once

#include <memory>

#include "base/log.hpp"
#include "observe/event_bus.hpp"

namespace pawl::observe {

/// Writes events to the log: dead letters and lost health as errors, failures and misbehaviour as warnings, lives of nodes and
/// acts of people as information, successes and starts for debugging.
///
/// Listens only to what the logger's level lets through at the time of the call, so that a quiet log costs nothing.
[[nodiscard]] Subscription log_events(EventBus& bus, std::shared_ptr<const base::Log> log);

}  // namespace pawl::observe
