#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <pawl/job.hpp>

#include "store/store.hpp"
#include "worker/pool.hpp"

namespace pawl::runtime {

/// Where each queue and level was last claimed, so that a claim does not walk again over what is gone; and when looking
/// from the start is worth its cost again. Rows stand before a mark when they were committed late, released or rescued.
///
/// **Threads**: confined to one thread.
class ClaimMarks {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// What to claim after; nothing for queues that were not claimed from since they were last looked through.
    [[nodiscard]] const std::vector<store::ClaimStart>& starts() const noexcept { return starts_; }

    /// Moves the marks past what was claimed.
    void advance(std::span<const worker::Job> claimed);

    /// Forgets the marks: the next claim looks from the start. `measured` says what such a look cost.
    void forget() noexcept { starts_.clear(); }
    void measured(SteadyTime begun, SteadyTime ended) noexcept;

    /// A full look is not repeated before twenty times its own duration, within these bounds.
    [[nodiscard]] SteadyTime next_full_look() const noexcept { return next_full_look_; }

private:
    static constexpr std::chrono::milliseconds shortest_pause{50};
    static constexpr std::chrono::seconds longest_pause{5};
    static constexpr int cost_factor = 20;

    std::vector<store::ClaimStart> starts_;
    SteadyTime next_full_look_{};
};

}  // namespace pawl::runtime
