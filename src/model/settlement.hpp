#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <pawl/clock.hpp>

#include "model/claimed_job.hpp"
#include "model/decision.hpp"

namespace pawl::model {

/// The job that follows on the end of another, in the same commit. It stands in the queue and at the priority of that one.
struct FollowUp {
    std::string kind;
    /// A FinishedJob, but for the time, which the database adds.
    std::string payload;
};

/// A decided run on its way into the store and, once applied, to the listeners.
struct Settlement {
    std::shared_ptr<const ClaimedJob> job;
    Decision decision;
    std::optional<Time> started_at;
    std::chrono::microseconds duration{};
    std::optional<FollowUp> follow_up{};
};

/// What a job's losses come to with this decision: a counted outcome clears it of suspicion, a charged loss is one.
[[nodiscard]] inline int losses_after(const JobFacts& facts, const Decision& decision) noexcept {
    constexpr int most_stored = 1000;
    if (decision.counted) return 0;
    if (decision.crashed) return std::max(facts.losses, suspect_from);
    return decision.lost_in_company ? std::min(facts.losses + 1, most_stored) : facts.losses;
}

}  // namespace pawl::model
