#include <algorithm>
#include <cstddef>
#include <string_view>

#include "failure/case.hpp"
#include "failure/contain.hpp"
#include "failure/limits.hpp"
#include "model/backoff_text.hpp"
#include "model/job_spec.hpp"

namespace pawl::failure {
namespace {

using Draw = Backoff::Draw;

void misbehaved(Notes& notes, std::string_view where) {
    notes.misbehaving_policies.push_back(
        {std::string(where), "returned a delay that is negative, no number, or above 366 days"});
}

/// What user code answered, if it is a delay at all.
std::optional<Draw> taken(Notes& notes, std::string_view where, const std::optional<Duration>& answer) {
    if (!answer) return std::nullopt;
    if (sensible(*answer)) return Draw{*answer, {}};
    misbehaved(notes, where);
    return std::nullopt;
}

std::optional<Draw> asked_for(Case& c) {
    if (c.retry_after == nullptr) return std::nullopt;
    const Duration delay = c.retry_after->delay;
    return taken(c.notes, "RetryAfter", delay.valid() ? std::min(delay, longest_retry_after) : delay);
}

std::optional<Draw> wait_of_rule(Case& c) {
    if (c.rule == nullptr) return std::nullopt;
    const RetryRule& rule = *c.rule->retry;
    switch (rule.wait.law()) {
        case Wait::Law::fixed:
            return Backoff::fixed(rule.wait.duration())
                .capped(longest_delay)
                .jittered(Jitter::up_to(rule.jitter))
                .draw(1, c.random);
        case Wait::Law::polynomial:
            return Backoff::polynomial().jittered(Jitter::up_to(rule.jitter)).draw(c.rule_count, c.random);
        case Wait::Law::callable:
            return taken(c.notes, "retry_on.wait", contained(c.notes, "retry_on.wait", [&] {
                             return rule.wait.function()(c.rule_count, *c.matched);
                         }));
    }
    return std::nullopt;
}

std::optional<Draw> delay_of_plan(Case& c) {
    if (!c.plan) return std::nullopt;
    if (c.plan->delays.empty()) return Draw{};
    const auto index = std::min(static_cast<std::size_t>(c.attempts()), c.plan->delays.size()) - 1;
    return Draw{c.plan->delays[index], {}};
}

std::optional<Draw> delay_of_policy(Case& c) {
    // Where a rule or a plan spoke and misbehaved, the job's own backoff takes its place, not the policy.
    if (!c.policy.retry_policy || c.retry_after != nullptr || c.rule != nullptr || c.plan) return std::nullopt;
    const auto answer =
        contained(c.notes, "delay", [&] { return c.policy.retry_policy->delay(c.attempts(), c.failure); });
    const auto draw = taken(c.notes, "delay", answer);
    return draw && draw->delay == Duration() ? std::nullopt : draw;
}

/// Within the budget a retry has its own delay, else that of its turn.
void wait_for_turn(const Case& c, model::Decision& decision) {
    if (!c.policy.budget) return;
    const auto turn = c.policy.budget->take_turn();
    if (c.retry_after != nullptr || turn <= decision.delay) return;
    decision.delay = turn;
    decision.jitter = {};
    if (c.rule == nullptr && !c.plan) decision.rule = ":budget";
}

std::optional<Backoff> stored_backoff(const model::ClaimedJob& job, Notes& notes) {
    if (!job.backoff) return std::nullopt;
    return contained(notes, "stored backoff", [&] { return model::parse_backoff(*job.backoff); });
}

}  // namespace

Draw own_backoff(const model::ClaimedJob& job, const FailurePolicy& policy, RandomSource& random, Notes& notes, int n) {
    const Backoff backoff = stored_backoff(job, notes).value_or(policy.backoff);
    const auto draw = contained(notes, "backoff", [&] { return backoff.draw(n, random); });
    if (draw && draw->delay <= longest_delay) return *draw;
    if (draw && backoff.law() != Backoff::Law::custom) return {longest_delay, {}};
    if (draw) misbehaved(notes, "backoff");
    // Only a custom law can fail, or the random source, which is then left out.
    struct Middle final : RandomSource {
        double uniform() override { return 0.5; }
    } middle;
    return Backoff().draw(n, middle);
}

model::Decision retry_after_delay(Case& c) {
    model::Decision decision;
    decision.verdict = model::Verdict::retry_at;
    decision.counted = true;

    std::optional<Draw> draw = asked_for(c);
    if (!draw) draw = wait_of_rule(c);
    if (!draw) draw = delay_of_plan(c);
    if (!draw) {
        draw = delay_of_policy(c);
        if (draw) decision.rule = ":policy";
    }
    if (!draw) draw = own_backoff(c.job, c.policy, c.random, c.notes, c.attempts());
    if (c.undecodable && c.rule == nullptr) draw->delay = std::max(draw->delay, shortest_payload_delay);
    decision.delay = draw->delay.microseconds();
    decision.jitter = draw->jitter.microseconds();
    wait_for_turn(c, decision);

    if (c.rule != nullptr) {
        decision.queue = c.rule->retry->queue;
        decision.priority = c.rule->retry->priority;
    }
    if (c.retry_after != nullptr) {
        decision.queue = sensible_queue(c.retry_after->queue, c.notes);
        if (c.retry_after->priority <= Priority::lowest) decision.priority = c.retry_after->priority;
    }
    return decision;
}

std::optional<std::string> sensible_queue(const std::optional<std::string>& queue, Notes& notes) {
    if (!queue) return std::nullopt;
    return contained(notes, "RetryAfter", [&] {
        model::validate_queue(*queue);
        return *queue;
    });
}

}  // namespace pawl::failure
