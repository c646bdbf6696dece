#include "runtime/job_flow.hpp"

#include <pawl/errors.hpp>

#include "failure/capture.hpp"
#include "failure/decide.hpp"
#include "runtime/follow_up.hpp"

namespace pawl::runtime {
namespace {

/// During a rolling deploy: long enough for a node of the newer version to take it first.
constexpr std::chrono::seconds newer_version_wait{30};

}  // namespace

// The whole life of a claimed job: execute → decide → settle → publish.

Owed JobFlow::run(const std::shared_ptr<worker::StopState>& run) const {
    const worker::Job& job = run->job();
    const Kinds::Kind* kind = parts_.kinds->find(job->kind);
    if (const auto refusal = refuse(*job, kind)) {
        if (run->claim_verdict()) release({job}, refusal->why, refusal->wait);
        return {};
    }

    const auto settle = [&](const model::Outcome& outcome) {
        return run->claim_verdict() ? settle_soon(decide(job, outcome)) : Owed{};
    };
    parts_.publisher->started(*job);
    return settle(parts_.executor->execute(*kind->setup.invoker, run, limits(*job, *kind),
                                           [&](const auto& outcome) { parts_.owed->call(settle(outcome)); }));
}

std::optional<JobFlow::Refusal> JobFlow::refuse(const model::ClaimedJob& job, const Kinds::Kind* kind) const {
    if (kind == nullptr || kind->setup.payload_version < job.payload_version)
        return Refusal{"its payload is of a newer version than this node's handler", newer_version_wait};
    if (!parts_.lease->holds() || job.node != parts_.publisher->node()) return Refusal{"fenced", {}};
    if (const auto wait = parts_.guards->wait_before(*kind, job))
        return Refusal{"the breaker of " + kind->setup.breaker->service() + " is open", *wait};
    if (kind->setup.policy.non_idempotent && !begins(job))
        return Refusal{"its beginning could not be written down, without which it must not run", {}};
    return std::nullopt;
}

bool JobFlow::begins(const model::ClaimedJob& job) const {
    try {
        return parts_.store->begin_run(job.slot);
    } catch (const StoreError&) {
        return false;
    }
}

void JobFlow::warn(const worker::StopState& run) const {
    const Kinds::Kind* kind = parts_.kinds->find(run.job()->kind);
    if (kind == nullptr) return;
    const std::chrono::duration<double, std::nano> limit =
        limits(*run.job(), *kind).timeout.value_or(std::chrono::nanoseconds{});
    parts_.publisher->soft_limit(run, std::chrono::duration_cast<std::chrono::microseconds>(limit * parts_.soft_limit));
}

Owed JobFlow::give_up(const std::shared_ptr<worker::StopState>& run) const {
    const Kinds::Kind* kind = parts_.kinds->find(run->job()->kind);
    if (kind == nullptr) return {};
    return settle_soon(decide(run->job(), parts_.executor->overdue(*run, limits(*run->job(), *kind))));
}

void JobFlow::lose(const store::LostClaim& claim) const {
    std::vector<Judged> judged;
    for (const store::LostJob& lost : claim.jobs) {
        judged.push_back(decide(
            lost.job, {.what = model::LostRun{
                           .node = "node " + std::to_string(claim.from), .alone = lost.alone, .begun = lost.begun}}));
        judged.back().decided.aftermath.rescued_from = claim.from;
    }
    settle_soon(std::move(judged));
}

void JobFlow::release(const std::vector<worker::Job>& jobs, std::string_view why,
                      std::chrono::microseconds wait) const {
    std::vector<Judged> judged;
    for (const worker::Job& job : jobs) {
        judged.push_back(decide(job, {.what = model::InterruptedRun{.why = std::string(why), .delay = wait}}));
    }
    settle_soon(std::move(judged));
}

Judged JobFlow::decide(const worker::Job& job, const model::Outcome& outcome) const {
    static const failure::FailurePolicy unknown_kind;
    const Kinds::Kind* kind = parts_.kinds->find(job->kind);
    const failure::FailurePolicy& policy = kind != nullptr ? kind->setup.policy : unknown_kind;

    failure::Notes notes;
    model::Decision decision = failure::decide(*job, outcome, policy, *parts_.random, notes);
    if (kind != nullptr) parts_.guards->ended(*kind, *job, outcome, decision, notes);

    std::optional<std::chrono::microseconds> timed_out;
    if (notes.timed_out && kind != nullptr) {
        const auto limit = limits(*job, *kind).timeout.value_or(std::chrono::nanoseconds{});
        timed_out = std::chrono::duration_cast<std::chrono::microseconds>(limit);
    }
    const auto* interrupted = std::get_if<model::InterruptedRun>(&outcome.what);
    Judged judged{.decided = {.settlement = {job, std::move(decision), outcome.started_at, outcome.duration},
                              .aftermath = {.misbehaving_policies = std::move(notes.misbehaving_policies),
                                            .poison_or_bug = notes.poison_or_bug,
                                            .timed_out = timed_out,
                                            .runbook = kind != nullptr ? kind->setup.runbook : std::string{},
                                            .why = interrupted != nullptr ? interrupted->why : std::string{}}},
                  .owed = {}};
    if (!notes.hooks.empty()) {
        judged.decided.answer = std::make_shared<Answer>();
        judged.owed = {std::move(notes.hooks), judged.decided.answer};
    }
    return judged;
}

Owed JobFlow::settle_soon(Judged judged) const {
    parts_.queue->add(std::move(judged.decided));
    return std::move(judged.owed);
}

void JobFlow::settle_soon(std::vector<Judged> judged) const {
    std::vector<Decided> decided;
    std::vector<Owed> owed;
    for (Judged& one : judged) {
        decided.push_back(std::move(one.decided));
        owed.push_back(std::move(one.owed));
    }
    parts_.queue->add_all(std::move(decided));
    parts_.owed->call_later(std::move(owed));
}

std::vector<store::Halted> JobFlow::settle(const Batch& batch) const {
    std::vector<model::Settlement> settlements;
    settlements.reserve(batch.decided.size());
    for (const Decided& decided : batch.decided) {
        model::Settlement& settlement = settlements.emplace_back(decided.settlement);
        settlement.follow_up = follow_up(*settlement.job, settlement.decision, parts_.max_payload);
    }

    store::Settled settled = parts_.store->settle({batch.node, batch.seq, settlements});
    parts_.publisher->settled(batch.decided, settled);
    for (std::size_t i = 0; i < batch.decided.size(); ++i) parts_.queue->answer(batch.decided[i], settled.applied[i]);
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
