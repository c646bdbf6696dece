#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <pawl/clock.hpp>

#include "base/mutex.hpp"
#include "failure/breaker.hpp"
#include "runtime/kinds.hpp"

namespace pawl::runtime {

/// Asks the circuit breaker of a kind before each run, and tells it and the retry budget afterwards how the run went.
///
/// **Threads**: safe from any thread. Kinds without them cost nothing.
class Guards {
public:
    explicit Guards(std::shared_ptr<RandomSource> random) : random_(std::move(random)) {}

    /// None: the job may run, and `ended` is owed. Else when it may be worth another look, spread a little so that those
    /// that were put back do not come back at once.
    [[nodiscard]] std::optional<std::chrono::microseconds> wait_before(const Kinds::Kind& kind,
                                                                       const model::ClaimedJob& job)
        PAWL_EXCLUDES(mutex_);

    /// Takes what a run came to. Jobs that were never let through are none of its business.
    void ended(const Kinds::Kind& kind, const model::ClaimedJob& job, const model::Outcome& outcome,
               const model::Decision& decision, failure::Notes& notes) PAWL_EXCLUDES(mutex_);

private:
    using RunKey = std::pair<ClaimToken, JobId>;

    const std::shared_ptr<RandomSource> random_;
    base::Mutex mutex_;
    std::map<RunKey, failure::Breaker::Permit> permits_ PAWL_GUARDED_BY(mutex_);
};

}  // namespace pawl::runtime
