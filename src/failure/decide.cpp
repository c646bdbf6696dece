#include "failure/decide.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <variant>

#include <cxxabi.h>

#include "failure/capture.hpp"
#include "failure/case.hpp"
#include "failure/contain.hpp"
#include "failure/limits.hpp"
#include "failure/sanitize.hpp"

// Where a job goes after a run. Outcomes that say it themselves are answered by an overload of `decided` each; all others
// go down the rows of this table, and the first that applies decides:
//
//      2  fatal_type         an error after which no job can run here     released, and the pool stops
//      2b non_idempotent     the kind must not be run twice               dead letter, needs_person
//      3  discard_rule       discard_on                                   discarded
//      4  do_not_retry       a mark, or a PermanentError, in the chain    dead letter, do_not_retry, not counted
//      5  retry_rule         retry_on, its attempts used up               dead letter, rule_exhausted
//      6  permanent_class    no rule, and the class is permanent          dead letter, permanent, not counted
//      7  kind_strategy      retry_with says no, or its plan is at end    dead letter, plan
//      8  global_policy      the scheduler's policy says no               dead letter, policy
//      9  attempts_used_up   more runs than the job has                   dead letter, exhausted | timed_out | payload
//      10 retry_after_delay  otherwise                                    retry_at
//
// Row 0, whether the claim still holds the job, is the store's: only the write itself can tell.

namespace pawl::failure {
namespace {

using model::Decision;
using model::Verdict;

constexpr std::array<Row, 9> threw_rows{fatal_type,      non_idempotent, discard_rule,  do_not_retry,    retry_rule,
                                        permanent_class, kind_strategy,  global_policy, attempts_used_up};
constexpr std::array<Row, 8> timed_out_rows{non_idempotent,  discard_rule,  do_not_retry,  retry_rule,
                                            permanent_class, kind_strategy, global_policy, attempts_used_up};
// The handler had not begun, so that running it is no repetition.
constexpr std::array<Row, 7> undecodable_rows{discard_rule,  do_not_retry,  retry_rule,      permanent_class,
                                              kind_strategy, global_policy, attempts_used_up};
constexpr std::array<Row, 2> retry_after_rows{global_policy, attempts_used_up};

// When memory is short in the middle of a decision, the job waits this long.
constexpr std::chrono::microseconds undecided_delay = std::chrono::minutes(1);

const ErrorSanitizer& sanitizer_of(const FailurePolicy& policy) {
    static const DefaultErrorSanitizer built_in;
    return policy.sanitizer ? *policy.sanitizer : built_in;
}

bool is_terminal_failure(const Decision& decision) {
    return decision.verdict == Verdict::dead_letter || decision.verdict == Verdict::discard;
}

bool limit_was_reached(Reason reason) {
    switch (reason) {
        case Reason::rule_exhausted:
        case Reason::plan:
        case Reason::exhausted:
        case Reason::timed_out:
        case Reason::payload:
            return true;
        default:
            return false;
    }
}

void owe(Notes& notes, std::string_view where, const FailureCallback& call, const Failure& failure) {
    if (call) notes.hooks.push_back({std::string(where), call, failure});
}

void owe_hooks(const Case& c, const Decision& decision) {
    const detail::RuleBook& book = c.policy.rules.rule_book();
    const Failure& matched = c.matched ? *c.matched : c.failure;
    if (decision.reason == Reason::discarded && c.rule != nullptr)
        owe(c.notes, "discard_on", c.rule->discarded, matched);
    if (limit_was_reached(decision.reason)) {
        const bool by_rule = c.rule != nullptr && c.rule->retry->exhausted;
        if (by_rule) {
            owe(c.notes, "retry_on.exhausted", c.rule->retry->exhausted, matched);
        } else {
            owe(c.notes, "on_exhausted", book.exhausted(), c.failure);
        }
    }
    for (const FailureCallback& callback : book.after_discard()) owe(c.notes, "after_discard", callback, c.failure);
}

/// What goes with every decision about a failure.
Decision finished(Case& c, Decision decision) {
    decision.error = sanitize(sanitizer_of(c.policy), c.failure);
    if (decision.rule.empty() && c.rule != nullptr) decision.rule = c.rule->key;
    if (decision.rule.empty() && c.plan) decision.rule = ":plan";
    c.notes.timed_out = c.timed_out;
    if (is_terminal_failure(decision)) {
        const bool used_up = decision.reason == Reason::exhausted || decision.reason == Reason::rule_exhausted;
        c.notes.poison_or_bug = used_up && c.failure.error_class() == ErrorClass::unknown;
        owe_hooks(c, decision);
    }
    return decision;
}

Decision through(std::span<const Row> rows, Case c) {
    for (const Row row : rows) {
        if (auto decision = row(c)) return finished(c, std::move(*decision));
    }
    return finished(c, retry_after_delay(c));
}

/// Everything that decisions are made of, and one overload for each outcome.
class Decider {
public:
    Decider(const model::ClaimedJob& job, const model::Outcome& outcome, const FailurePolicy& policy,
            RandomSource& random, Notes& notes)
        : job_(job), outcome_(outcome), policy_(policy), random_(random), notes_(notes) {}

    Decision operator()(const model::Done& done) const {
        Decision decision;
        decision.result = done.result;
        return decision;
    }

    Decision operator()(const model::SaidSnooze& said) const {
        Decision decision;
        decision.verdict = Verdict::snooze;
        if (!said.delay.valid()) {
            notes_.misbehaving_policies.push_back(
                {"Snooze", "asked for a delay that is no number; the job's backoff is used"});
            const auto draw = own_backoff(job_, policy_, random_, notes_, 1);
            decision.delay = draw.delay.microseconds();
            decision.jitter = draw.jitter.microseconds();
        } else {
            decision.delay = std::clamp(said.delay, Duration(), longest_delay).microseconds();
        }
        return decision;
    }

    Decision operator()(const model::SaidCancel& said) const {
        Decision decision;
        decision.verdict = Verdict::cancel;
        decision.detail = sanitize_text(said.reason);
        return decision;
    }

    Decision operator()(const model::SaidDiscard& said) const {
        const auto failure = given(said.failure);
        Case c = about(*failure);
        Decision decision = terminal(Verdict::discard, Reason::discarded, false);
        decision.detail = sanitize_text(said.reason);
        return finished(c, std::move(decision));
    }

    Decision operator()(const model::SaidRetryAfter& said) const {
        const auto failure = given(said.failure);
        Case c = about(*failure);
        c.retry_after = &said;
        return through(retry_after_rows, std::move(c));
    }

    Decision operator()(const model::SaidWorkerFatal& said) const {
        const auto failure = given(said.failure);
        Case c = about(*failure);
        Decision decision;
        decision.verdict = Verdict::release;
        decision.stop_pool = true;
        return finished(c, std::move(decision));
    }

    Decision operator()(const model::Threw& threw) const {
        const auto failure = given(threw.failure);
        return through(threw_rows, about(*failure));
    }

    Decision operator()(const model::TimedOutRun& run) const {
        const auto failure = given(run.failure);
        Case c = about(*failure);
        c.timed_out = true;
        return through(timed_out_rows, std::move(c));
    }

    Decision operator()(const model::Undecodable& payload) const {
        const auto failure = given(payload.failure);
        Case c = about(*failure);
        c.undecodable = true;
        return through(undecodable_rows, std::move(c));
    }

    Decision operator()(const model::InterruptedRun& run) const {
        if (policy_.non_idempotent && outcome_.started_at) {
            return needs_person(*nothing_thrown("pawl::Interrupted", "interrupted in the middle of a run: " + run.why));
        }
        Decision decision;
        decision.verdict = Verdict::release;
        decision.detail = sanitize_text(run.why);
        decision.delay = std::clamp(Duration(run.delay), Duration(), longest_delay).microseconds();
        return decision;
    }

    Decision operator()(const model::LostRun& run) const {
        const auto failure = nothing_thrown("pawl::WorkerLost", "node " + run.node + " was lost while it held the job");
        if (policy_.non_idempotent && run.may_have_begun) return needs_person(*failure);

        Case c = about(*failure);
        if (!run.charged) {
            Decision decision;
            decision.verdict = Verdict::release;
            return finished(c, std::move(decision));
        }
        if (job_.facts.crashes >= policy_.crash_budget) {
            Decision decision = terminal(Verdict::dead_letter, Reason::worker_lost, false);
            decision.crashed = true;
            return finished(c, std::move(decision));
        }
        Decision decision;
        decision.verdict = Verdict::retry_at;
        decision.crashed = true;
        const auto draw = own_backoff(job_, policy_, random_, notes_, job_.facts.crashes + 1);
        decision.delay = draw.delay.microseconds();
        decision.jitter = draw.jitter.microseconds();
        return finished(c, std::move(decision));
    }

private:
    [[nodiscard]] Case about(const Failure& failure) const { return {job_, policy_, random_, notes_, failure}; }

    [[nodiscard]] Decision needs_person(const Failure& failure) const {
        Case c = about(failure);
        return finished(c, terminal(Verdict::dead_letter, Reason::needs_person, true));
    }

    /// An outcome may come without its failure; the decision must not depend on that.
    [[nodiscard]] std::shared_ptr<const Failure> given(const std::shared_ptr<const Failure>& failure) const {
        if (failure) return failure;
        return nothing_thrown("unknown", "no error was kept");
    }

    [[nodiscard]] std::shared_ptr<const Failure> nothing_thrown(std::string_view type,
                                                                const std::string& message) const {
        return without_exception(type, message, std::make_shared<const model::ClaimedJob>(job_),
                                 {outcome_.started_at, ended_at()});
    }

    [[nodiscard]] Time ended_at() const {
        return outcome_.started_at ? *outcome_.started_at + outcome_.duration : job_.run_at;
    }

    const model::ClaimedJob& job_;
    const model::Outcome& outcome_;
    const FailurePolicy& policy_;
    RandomSource& random_;
    Notes& notes_;
};

}  // namespace

model::Decision decide(const model::ClaimedJob& job, const model::Outcome& outcome, const FailurePolicy& policy,
                       RandomSource& random, Notes& notes) {
    try {
        return std::visit(Decider(job, outcome, policy, random, notes), outcome.what);
    } catch (abi::__forced_unwind&) {
        throw;
    } catch (...) {
        // User code is contained above; this is memory that ran out. Made without any, so that the job is not left to
        // nobody.
        Decision decision;
        decision.verdict = Verdict::snooze;
        decision.delay = undecided_delay;
        return decision;
    }
}

}  // namespace pawl::failure
