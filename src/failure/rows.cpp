#include <algorithm>
#include <limits>
#include <utility>

#include <pawl/control.hpp>

#include "failure/captured.hpp"
#include "failure/case.hpp"
#include "failure/contain.hpp"
#include "failure/limits.hpp"
#include "failure/sanitize.hpp"

namespace pawl::failure {
namespace {

using model::Decision;
using model::Verdict;

int incremented(int count) noexcept { return count == std::numeric_limits<int>::max() ? count : count + 1; }

const Classification& classification_of(const FailurePolicy& policy) {
    static const Classification built_in;
    return policy.classification ? *policy.classification : built_in;
}

Decision permanent(const Case& c, Reason reason) {
    const bool kept_out = c.policy.permanent_errors == PermanentErrors::failed_only;
    return terminal(kept_out ? Verdict::discard : Verdict::dead_letter, reason, false);
}

/// Finds the one rule that speaks: the error itself against all rules, the last declared first; then each cause.
void match_rule(Case& c) {
    if (c.rule != nullptr) return;
    const auto& rules = c.policy.rules.rule_book().rules();
    for (std::size_t depth = 0; depth <= c.failure.causes(); ++depth) {
        const Failure seen = depth == 0 ? c.failure : c.failure.cause(depth - 1);
        const auto matches = [&](const detail::TypeMatch& type) { return type.catches(seen.exception()); };
        const auto found = std::find_if(rules.rbegin(), rules.rend(), [&](const detail::Rule& rule) {
            return std::ranges::any_of(rule.types, matches);
        });
        if (found == rules.rend()) continue;
        c.rule = &*found;
        c.matched = seen;
        return;
    }
}

int own_limit(const Case& c) { return c.job.max_retries.value_or(c.policy.max_retries); }

bool valid(const RetryPlan& plan) { return plan.retries >= 0 && std::ranges::all_of(plan.delays, sensible); }

}  // namespace

int Case::attempts() const noexcept { return job.attempt(); }

Decision terminal(Verdict verdict, Reason reason, bool counted) {
    Decision decision;
    decision.verdict = verdict;
    decision.reason = reason;
    decision.counted = counted;
    return decision;
}

std::optional<Decision> fatal_type(Case& c) {
    const auto& fatal = classification_of(c.policy).fatal();
    const bool is_fatal =
        std::ranges::any_of(fatal, [&](const auto& type) { return type.catches(c.failure.exception()); });
    if (!is_fatal) return std::nullopt;
    Decision decision;
    decision.verdict = Verdict::release;
    decision.stop_pool = true;
    return decision;
}

std::optional<Decision> non_idempotent(Case& c) {
    if (!c.policy.non_idempotent) return std::nullopt;
    return terminal(Verdict::dead_letter, Reason::needs_person, true);
}

std::optional<Decision> step_in_doubt(Case& c) {
    if (!c.failure.involves<StepInDoubt>()) return std::nullopt;
    return terminal(Verdict::dead_letter, Reason::needs_person, true);
}

std::optional<Decision> discard_rule(Case& c) {
    match_rule(c);
    if (c.rule == nullptr || c.rule->retry) return std::nullopt;
    Decision decision = terminal(Verdict::discard, Reason::discarded, true);
    decision.rule = c.rule->key;
    return decision;
}

std::optional<Decision> do_not_retry(Case& c) {
    const auto last = last_link(c.failure);
    const auto marked =
        std::find_if(first_link(c.failure), last, [](const Link& link) { return link.do_not_retry.has_value(); });
    if (marked == last) return std::nullopt;
    // Row 4 speaks before the rule that may have matched.
    c.rule = nullptr;
    Decision decision = permanent(c, Reason::do_not_retry);
    decision.detail = sanitize_text(*marked->do_not_retry);
    return decision;
}

std::optional<Decision> retry_rule(Case& c) {
    match_rule(c);
    if (c.rule == nullptr) return std::nullopt;
    const auto counted = c.job.rule_counts.find(c.rule->key);
    c.rule_count = incremented(counted == c.job.rule_counts.end() ? 0 : counted->second);
    const int limit = c.rule->retry->attempts;
    if (limit == unlimited || c.rule_count < limit) return std::nullopt;
    return terminal(Verdict::dead_letter, Reason::rule_exhausted, true);
}

std::optional<Decision> permanent_class(Case& c) {
    if (c.rule != nullptr || c.failure.error_class() != ErrorClass::permanent) return std::nullopt;
    return permanent(c, Reason::permanent);
}

std::optional<Decision> kind_strategy(Case& c) {
    const RetryStrategy& strategy = c.policy.rules.rule_book().strategy();
    if (c.rule != nullptr || !strategy) return std::nullopt;
    auto answer = contained(c.notes, "retry_with", [&] { return strategy(c.failure); });
    if (!answer) return std::nullopt;  // It threw: the job's own limit and backoff are used.
    if (*answer && !valid(**answer)) {
        c.notes.misbehaving_policies.push_back({"retry_with", "returned negative retries, or a delay that cannot be"});
        return std::nullopt;
    }
    c.plan = std::move(*answer);
    if (c.plan && c.attempts() <= c.plan->retries) return std::nullopt;
    return terminal(Verdict::dead_letter, Reason::plan, true);
}

std::optional<Decision> global_policy(Case& c) {
    if (!c.policy.retry_policy) return std::nullopt;
    const auto retry = contained(c.notes, "should_retry",
                                 [&] { return c.policy.retry_policy->should_retry(c.attempts(), c.failure); });
    if (retry.value_or(true)) return std::nullopt;
    Decision decision = terminal(Verdict::dead_letter, Reason::policy, true);
    decision.rule = ":policy";
    return decision;
}

std::optional<Decision> attempts_used_up(Case& c) {
    // A rule or plan has a limit of its own, and only what was said with the job itself bounds it.
    const bool limited_elsewhere = c.rule != nullptr || c.plan.has_value();
    const bool used_up = (!limited_elsewhere || c.job.max_retries) && c.attempts() > own_limit(c);
    const bool undecodable_for_good = c.undecodable && c.rule == nullptr && c.attempts() >= most_payload_attempts;
    if (!used_up && !undecodable_for_good) return std::nullopt;
    const Reason reason = c.undecodable ? Reason::payload : c.timed_out ? Reason::timed_out : Reason::exhausted;
    return terminal(Verdict::dead_letter, reason, true);
}

}  // namespace pawl::failure
