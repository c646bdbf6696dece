#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>
#include <pawl/scheduler.hpp>

#include "api/scheduler_impl.hpp"
#include "failure/decide.hpp"
#include "model/backoff_text.hpp"
#include "model/job_spec.hpp"
#include "model/shown.hpp"
#include "runtime/capture_calls.hpp"
#include "worker/executor.hpp"

// A dry run of what happens to a run that fails: the executor runs a handler that throws the given error, and
// failure::decide is asked about the outcome. Nothing is settled, and no callback is called.

namespace pawl {
namespace {

/// A handler that throws what it was made of, from where it would come.
class Rethrowing final : public detail::Invoker, public detail::Invocation {
public:
    explicit Rethrowing(std::exception_ptr error) : error_(std::move(error)) {}

    [[nodiscard]] std::unique_ptr<detail::Invocation> decode(std::string_view) const override {
        if (detail::caught<PayloadError>(error_) != nullptr) std::rethrow_exception(error_);
        return std::make_unique<Rethrowing>(error_);
    }
    detail::HandlerReply run(JobContext&) override { std::rethrow_exception(error_); }

private:
    const std::exception_ptr error_;
};

std::shared_ptr<const model::ClaimedJob> job_of(const runtime::KindSetup& kind, const ExplainOptions& options,
                                                const model::SpecLimits& limits, Time now) {
    if (options.attempt < 1) throw ConfigError("attempt", "must be 1 or more: 1 is the first run");
    if (options.crashes < 0) throw ConfigError("crashes", "must not be negative");
    for (const auto& [key, count] : options.rule_counts) {
        if (count < 0) throw ConfigError("rule_counts." + model::shown(key), "must not be negative");
    }
    model::validate_queue(options.queue);
    model::validate_payload(kind.name, options.payload, limits);
    if (options.max_retries) model::validate_retries(*options.max_retries);
    if (options.backoff) model::validate_stored_backoff(*options.backoff);

    auto job = std::make_shared<model::ClaimedJob>();
    job->facts.attempts = options.attempt - 1;
    job->facts.crashes = options.crashes;
    job->kind = kind.name;
    job->queue = options.queue;
    job->payload = options.payload;
    job->payload_version = kind.payload_version;
    job->max_retries = options.max_retries;
    if (options.backoff) job->backoff = model::to_text(*options.backoff);
    job->rule_counts = options.rule_counts;
    job->created_at = now;
    job->run_at = now;
    return job;
}

worker::Executor executor_of(const Scheduler::Impl& scheduler) {
    return worker::Executor({.watchdog = std::make_shared<worker::Watchdog>(worker::Watchdog::Options{}, scheduler.log),
                             .failures = runtime::capture_calls(scheduler.classification),
                             .clock = scheduler.clock,
                             .logger = scheduler.log->logger()});
}

model::Outcome outcome_of(const Scheduler::Impl& scheduler, const std::shared_ptr<const model::ClaimedJob>& job,
                          const std::exception_ptr& error, const runtime::KindSetup& kind, bool timed_out) {
    if (!error && !timed_out) {
        return {.what = model::LostRun{.node = "it was on", .alone = true, .begun = kind.policy.non_idempotent}};
    }

    const worker::Executor executor = executor_of(scheduler);
    const auto run = std::make_shared<worker::StopState>(job, std::chrono::steady_clock::now());
    worker::RunLimits limits{.max_retries = kind.policy.max_retries};
    if (timed_out) {
        const Duration limit = kind.timeout.value_or(scheduler.options.default_timeout);
        // Longer ones cannot pass, and nanoseconds could not count them.
        if (limit.microseconds() > std::chrono::years{100})
            throw ConfigError("timed_out", "is asked of a kind without a time limit");
        limits.timeout = limit.microseconds();
        run->request_stop(worker::StopReason::hard_limit);
        if (!error) return executor.overdue(*run, limits);
    }
    return executor.execute(Rethrowing(error), run, limits, [](const model::Outcome&) {});
}

State state_after(model::Verdict verdict) {
    switch (verdict) {
        case model::Verdict::complete:
            return State::succeeded;
        case model::Verdict::dead_letter:
        case model::Verdict::discard:
            return State::failed;
        case model::Verdict::cancel:
            return State::canceled;
        case model::Verdict::retry_at:
        case model::Verdict::snooze:
        case model::Verdict::release:
            break;
    }
    return State::pending;
}

}  // namespace

Explanation Scheduler::explain(std::string_view kind, const std::exception_ptr& error,
                               const ExplainOptions& options) const {
    const worker::Entry* entry = impl_->registry.find(kind);
    if (entry == nullptr)
        throw ConfigError("kind", fmt::format("\"{}\" has no handler in this scheduler", model::shown(kind)));
    const runtime::KindSetup setup = impl_->kind_setup(std::string(kind), *entry);
    const auto job = job_of(setup, options, {impl_->options.max_payload}, impl_->clock->now());
    const model::Outcome outcome = outcome_of(*impl_, job, error, setup, options.timed_out);

    failure::Notes notes;
    model::Decision decision = failure::decide(*job, outcome, setup.policy, *impl_->random, notes);

    Explanation explanation;
    explanation.kind = job->kind;
    explanation.attempt = options.attempt;
    explanation.becomes = state_after(decision.verdict);
    explanation.discarded = decision.verdict == model::Verdict::discard;
    explanation.reason = decision.reason;
    explanation.row = notes.row;
    explanation.rule = std::move(decision.rule);
    explanation.detail = std::move(decision.detail);
    explanation.counted = decision.counted;
    explanation.crashed = decision.crashed;
    if (explanation.becomes == State::pending) {
        explanation.delay = decision.delay;
        explanation.jitter = decision.jitter;
    }
    explanation.queue = std::move(decision.queue);
    explanation.priority = decision.priority;
    explanation.error = std::move(decision.error);
    explanation.stops_pool = decision.stop_pool;
    for (const failure::Misbehavior& misbehavior : notes.misbehaving_policies)
        explanation.misbehaving.push_back(misbehavior.where + " " + misbehavior.what);
    return explanation;
}

}  // namespace pawl
