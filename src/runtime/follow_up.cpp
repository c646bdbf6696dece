#include "runtime/follow_up.hpp"

#include <pawl/finished_job.hpp>

namespace pawl::runtime {
namespace {

const std::optional<std::string>& asked_for(const model::ClaimedJob& job, model::Verdict verdict) {
    static const std::optional<std::string> nothing;
    switch (verdict) {
        case model::Verdict::complete:
            return job.on_success;
        case model::Verdict::dead_letter:
        case model::Verdict::discard:
            return job.on_failure;
        default:
            return nothing;
    }
}

}  // namespace

std::optional<model::FollowUp> follow_up(const model::ClaimedJob& job, const model::Decision& decision,
                                         std::size_t max_payload) {
    const std::optional<std::string>& kind = asked_for(job, decision.verdict);
    if (!kind) return std::nullopt;

    FinishedJob finished;
    finished.id = job.slot.id;
    finished.kind = job.kind;
    finished.queue = job.queue;
    finished.priority = job.facts.priority;
    finished.state = decision.verdict == model::Verdict::complete ? State::succeeded : State::failed;
    finished.attempts = job.facts.attempts + (decision.counted ? 1 : 0);
    finished.reason = decision.reason;
    finished.discarded = decision.verdict == model::Verdict::discard;
    finished.detail = decision.detail;
    finished.error = decision.error;
    finished.payload_left_out = job.payload.size() > max_payload;
    if (!finished.payload_left_out) finished.payload = job.payload;
    finished.result = decision.result;
    finished.tags = job.tags;
    finished.params = job.params;
    finished.created_at = job.created_at;
    return model::FollowUp{*kind, Codec<FinishedJob>::encode(finished)};
}

}  // namespace pawl::runtime
