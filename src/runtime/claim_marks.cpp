#include "runtime/claim_marks.hpp"

#include <algorithm>

namespace pawl::runtime {

void ClaimMarks::advance(std::span<const worker::Job> claimed) {
    for (const worker::Job& job : claimed) {
        const auto same = [&job](const store::ClaimStart& start) {
            return start.queue == job->facts.queue && start.level == job->facts.priority;
        };
        auto start = std::find_if(starts_.begin(), starts_.end(), same);
        if (start == starts_.end()) {
            start = starts_.insert(starts_.end(), {.queue = job->facts.queue, .level = job->facts.priority});
        }
        if (std::pair(start->run_at, start->id) < std::pair(job->run_at, job->slot.id)) {
            start->run_at = job->run_at;
            start->id = job->slot.id;
        }
    }
}

void ClaimMarks::measured(SteadyTime begun, SteadyTime ended) noexcept {
    const auto pause = std::clamp<SteadyTime::duration>((ended - begun) * cost_factor, shortest_pause, longest_pause);
    next_full_look_ = ended + pause;
}

}  // namespace pawl::runtime
