#include "runtime/job_flow.hpp"

#include "failure/capture.hpp"
#include "failure/decide.hpp"

namespace pawl::runtime {
namespace {

/// During a rolling deploy: long enough for a node of the newer version to take it first.
constexpr std::chrono::seconds newer_version_wait{30};

}  // namespace

// The whole life of a claimed job: execute → decide → settle → publish.

void JobFlow::run(const std::shared_ptr<worker::StopState>& run) const {
    const worker::Job& job = run->job();
    const Kinds::Kind* kind = parts_.kinds->find(job->kind);
    const bool runs_here = kind != nullptr && kind->setup.payload_version >= job->payload_version;
    const bool ours = parts_.lease->holds() && job->node == parts_.publisher->node();
    if (!runs_here || !ours) {
        if (!run->claim_verdict()) return;
        return runs_here
                   ? release({job}, "fenced")
                   : release({job}, "its payload is of a newer version than this node's handler", newer_version_wait);
    }

    const auto settle = [&](const model::Outcome& outcome) {
        if (run->claim_verdict()) parts_.queue->add(decide(job, outcome));
    };
    parts_.publisher->started(*job);
    settle(parts_.executor->execute(*kind->setup.invoker, run, limits(*job, *kind), settle));
}

void JobFlow::warn(const worker::StopState& run) const {
    const Kinds::Kind* kind = parts_.kinds->find(run.job()->kind);
    if (kind == nullptr) return;
    const std::chrono::duration<double, std::nano> limit =
        limits(*run.job(), *kind).timeout.value_or(std::chrono::nanoseconds{});
    parts_.publisher->soft_limit(run, std::chrono::duration_cast<std::chrono::microseconds>(limit * parts_.soft_limit));
}

void JobFlow::give_up(const std::shared_ptr<worker::StopState>& run) const {
    if (const Kinds::Kind* kind = parts_.kinds->find(run->job()->kind)) {
        parts_.queue->add(decide(run->job(), parts_.executor->overdue(*run, limits(*run->job(), *kind))));
    }
}

void JobFlow::lose(const store::LostClaim& claim) const {
    std::vector<Decided> decided;
    for (const worker::Job& job : claim.jobs) {
        decided.push_back(
            decide(job, {.what = model::LostRun{.node = "node " + std::to_string(claim.from), .charged = true}}));
        decided.back().aftermath.rescued_from = claim.from;
    }
    parts_.queue->add_all(std::move(decided));
}

void JobFlow::release(const std::vector<worker::Job>& jobs, std::string_view why,
                      std::chrono::microseconds wait) const {
    std::vector<Decided> decided;
    for (const worker::Job& job : jobs) {
        decided.push_back(decide(job, {.what = model::InterruptedRun{.why = std::string(why), .delay = wait}}));
    }
    parts_.queue->add_all(std::move(decided));
}

Decided JobFlow::decide(const worker::Job& job, const model::Outcome& outcome) const {
    static const failure::FailurePolicy unknown_kind;
    const Kinds::Kind* kind = parts_.kinds->find(job->kind);
    const failure::FailurePolicy& policy = kind != nullptr ? kind->setup.policy : unknown_kind;

    failure::Notes notes;
    model::Decision decision = failure::decide(*job, outcome, policy, *parts_.random, notes);
    failure::run_hooks(notes);

    std::optional<std::chrono::microseconds> timed_out;
    if (notes.timed_out && kind != nullptr) {
        const auto limit = limits(*job, *kind).timeout.value_or(std::chrono::nanoseconds{});
        timed_out = std::chrono::duration_cast<std::chrono::microseconds>(limit);
    }
    const auto* interrupted = std::get_if<model::InterruptedRun>(&outcome.what);
    return {.settlement = {job, std::move(decision), outcome.started_at, outcome.duration},
            .aftermath = {.misbehaving_policies = std::move(notes.misbehaving_policies),
                          .misbehaving_hooks = std::move(notes.misbehaving_hooks),
                          .poison_or_bug = notes.poison_or_bug,
                          .timed_out = timed_out,
                          .runbook = kind != nullptr ? kind->setup.runbook : std::string{},
                          .why = interrupted != nullptr ? interrupted->why : std::string{}}};
}

std::vector<store::Halted> JobFlow::settle(const Batch& batch) const {
    std::vector<model::Settlement> settlements;
    settlements.reserve(batch.decided.size());
    for (const Decided& decided : batch.decided) settlements.push_back(decided.settlement);

    store::Settled settled = parts_.store->settle({batch.node, batch.seq, settlements});
    parts_.publisher->settled(batch.decided, settled);
    return std::move(settled.halted);
}

worker::RunLimits JobFlow::limits(const model::ClaimedJob& job, const Kinds::Kind& kind) const {
    const Duration timeout = job.timeout ? *job.timeout : kind.setup.timeout.value_or(parts_.default_timeout);
    worker::RunLimits limits{.max_retries = job.max_retries.value_or(kind.setup.policy.max_retries),
                             .timeout = std::nullopt,
                             .soft_limit = parts_.soft_limit};
    // Beyond what nanoseconds can count there is no difference to no limit.
    constexpr std::chrono::microseconds countable = std::chrono::years{100};
    if (timeout.microseconds() < countable) limits.timeout = timeout.microseconds();
    return limits;
}

}  // namespace pawl::runtime
