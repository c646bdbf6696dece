#pragma once

#include <chrono>

#include <pawl/clock.hpp>

namespace pawl {

/// How many retries a kind may have for its first runs, on all nodes together: when a service that the jobs call is down, its
/// return must not meet a wall of retries. What is above is delayed, never lost: each retry gets a later turn, so that they come
/// due no faster than this.
///
/// Both are counted over the last minute. Nodes tell each other what they counted with every heartbeat, and each takes the
/// part of the budget that its own retries are of all; so for some seconds the fleet may go beyond it. `RetryAfter` is
/// counted and keeps its own delay. The retry of a lost job is not counted.
///
/// **Source**: the retry budgets of RPC frameworks, as in the gRPC proposal A6 and Finagle, which drop what is above.
struct RetryBudget {
    /// Retries per first run. From 0, which leaves `at_least`, to 100. Default 0.2.
    double ratio{0.2};
    /// Retries per minute of a kind that are always within it, so that rare jobs are retried without delay. From 1 to
    /// 1,000,000. Default 60.
    int at_least{60};
    /// No retry is delayed for longer by it. From 1 s to 24 h. Default 1 h. Short ones let a long outage end in a wall after all.
    Duration longest_delay{std::chrono::hours(1)};
};

}  // namespace pawl
