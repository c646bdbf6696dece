#include "failure/decide.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <cxxabi.h>

#include "failure/capture.hpp"
#include "failure/limits.hpp"
#include "failure/sanitize.hpp"
#include "failure/table.hpp"

// Outcomes that say themselves where the job goes are answered by an overload each; all others go down the rows of table.cpp.

namespace pawl::failure {
namespace {

using model::Decision;
using model::Verdict;

// When memory is short in the middle of a decision, the job waits this long.
constexpr std::chrono::microseconds undecided_delay = std::chrono::minutes(1);

constexpr std::string_view said_row = "1 said";
constexpr std::string_view lost_row = "lost";

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
        notes_.row = said_row;
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
        notes_.row = said_row;
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
        return finished(c, std::move(decision), said_row);
    }

    Decision operator()(const model::SaidRetryAfter& said) const {
        const auto failure = given(said.failure);
        Case c = about(*failure);
        c.retry_after = &said;
        return through(Entry::retry_after, std::move(c));
    }

    Decision operator()(const model::SaidWorkerFatal& said) const {
        const auto failure = given(said.failure);
        Case c = about(*failure);
        Decision decision;
        decision.verdict = Verdict::release;
        decision.stop_pool = true;
        return finished(c, std::move(decision), said_row);
    }

    Decision operator()(const model::Threw& threw) const {
        const auto failure = given(threw.failure);
        return through(Entry::threw, about(*failure));
    }

    Decision operator()(const model::TimedOutRun& run) const {
        const auto failure = given(run.failure);
        Case c = about(*failure);
        c.timed_out = true;
        return through(Entry::timed_out, std::move(c));
    }

    Decision operator()(const model::Undecodable& payload) const {
        const auto failure = given(payload.failure);
        Case c = about(*failure);
        c.undecodable = true;
        return through(Entry::undecodable, std::move(c));
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
        if (run.begun) return needs_person(*failure);

        Case c = about(*failure);
        const bool charged = run.alone || job_.facts.losses >= most_losses;
        if (policy_.non_idempotent || !charged) {
            Decision decision;
            decision.verdict = Verdict::release;
            decision.lost_in_company = !policy_.non_idempotent;
            return finished(c, std::move(decision), lost_row);
        }
        if (job_.facts.crashes >= policy_.crash_budget) {
            Decision decision = terminal(Verdict::dead_letter, Reason::worker_lost, false);
            decision.crashed = true;
            return finished(c, std::move(decision), lost_row);
        }
        Decision decision;
        decision.verdict = Verdict::retry_at;
        decision.crashed = true;
        const auto draw = own_backoff(job_, policy_, random_, notes_, job_.facts.crashes + 1);
        decision.delay = draw.delay.microseconds();
        decision.jitter = draw.jitter.microseconds();
        return finished(c, std::move(decision), lost_row);
    }

private:
    [[nodiscard]] Case about(const Failure& failure) const { return {job_, policy_, random_, notes_, failure}; }

    [[nodiscard]] Decision needs_person(const Failure& failure) const {
        Case c = about(failure);
        return finished(c, terminal(Verdict::dead_letter, Reason::needs_person, true), "2b non_idempotent");
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
