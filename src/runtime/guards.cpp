#include "runtime/guards.hpp"

#include <variant>

namespace pawl::runtime {
namespace {

/// Waits are made longer by up to this part of them.
constexpr double spread = 0.1;

}  // namespace

std::optional<std::chrono::microseconds> Guards::wait_before(const Kinds::Kind& kind, const model::ClaimedJob& job) {
    if (!kind.setup.breaker) return std::nullopt;
    const auto answer = kind.setup.breaker->admit();
    if (const auto* wait = std::get_if<failure::Breaker::Wait>(&answer)) {
        const std::chrono::duration<double, std::micro> more = wait->time * spread * random_->uniform();
        return wait->time + std::chrono::duration_cast<std::chrono::microseconds>(more);
    }
    const base::MutexLock lock(mutex_);
    permits_.insert_or_assign(RunKey(job.slot.token, job.slot.id), std::get<failure::Breaker::Permit>(answer));
    return std::nullopt;
}

void Guards::ended(const Kinds::Kind& kind, const model::ClaimedJob& job, const model::Outcome& outcome,
                   const model::Decision& decision, failure::Notes& notes) {
    const bool ran = outcome.started_at && !std::holds_alternative<model::InterruptedRun>(outcome.what);
    if (kind.setup.policy.budget && ran && job.facts.attempts == 0) kind.setup.policy.budget->count_first_run();

    if (!kind.setup.breaker) return;
    failure::Breaker::Permit permit;
    {
        const base::MutexLock lock(mutex_);
        const auto found = permits_.find(RunKey(job.slot.token, job.slot.id));
        if (found == permits_.end()) return;
        permit = found->second;
        permits_.erase(found);
    }
    kind.setup.breaker->ended(permit, failure::call_result(outcome, decision, kind.setup.breaker->options(), notes));
}

}  // namespace pawl::runtime
