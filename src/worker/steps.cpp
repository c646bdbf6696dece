#include "worker/steps.hpp"

#include <exception>

#include <pawl/control.hpp>
#include <pawl/detail/step.hpp>
#include <pawl/errors.hpp>

#include "model/job_spec.hpp"
#include "worker/job_context.hpp"

namespace pawl::detail {
namespace {

void require_claim(bool held, const JobRun& run) {
    if (!held) throw Interrupted{run.job.slot.token, run.job.slot.id};
}

worker::Steps& steps_of(const JobRun& run) {
    if (run.steps == nullptr) throw ConfigError("once", "has no database in this context");
    return *run.steps;
}

/// Begins a step on a connection of ours. When the reply is lost, it may have been written all the same: only this run
/// writes under this token, so that what stands there then was written by the lost statement, unless the run had begun the
/// step before.
model::StepBegun begin_surely(const JobRun& run, const model::Step& step) {
    try {
        return steps_of(run).begin(nullptr, step);
    } catch (const StoreError& error) {
        if (!error.in_doubt()) throw;
    }
    model::StepBegun begun = steps_of(run).begin(nullptr, step);
    const bool written = begun.state == model::StepState::in_doubt && begun.begun_by == step.slot.token;
    if (written && !run.begun_steps.contains(step.name)) begun.state = model::StepState::begun;
    return begun;
}

}  // namespace

OpenStep::OpenStep(const JobRun& run, std::string_view name, pqxx::dbtransaction* transaction)
    : run_(run), name_(name), transaction_(transaction) {
    model::validate_queue(name_, "step");
    const model::Step step{run_.job.slot, name_};
    model::StepBegun begun =
        transaction_ != nullptr ? steps_of(run_).begin(transaction_, step) : begin_surely(run_, step);
    require_claim(begun.state != model::StepState::stale, run_);
    if (begun.state == model::StepState::begun) run_.begun_steps.insert(name_);
    done_ = begun.state == model::StepState::done;
    result_ = begun.result.value_or("null");
    if (begun.state == model::StepState::in_doubt) doubt_.emplace(name_, begun.begun_by);
}

void OpenStep::begin_anew() {
    const model::StepBegun begun =
        steps_of(run_).begin(transaction_, {run_.job.slot, name_, doubt_.value().begun_by()});
    require_claim(begun.state == model::StepState::begun, run_);
    run_.begun_steps.insert(name_);
}

void OpenStep::finish(std::optional<std::string> result) {
    require_claim(steps_of(run_).finish(transaction_, {run_.job.slot, name_}, result), run_);
}

void OpenStep::undo() noexcept {
    // In the caller's transaction the rollback does it. A thread that is being ended says nothing about its step.
    if (transaction_ != nullptr || std::current_exception() == nullptr) return;
    try {
        steps_of(run_).forget({run_.job.slot, name_});
        run_.begun_steps.erase(name_);
    } catch (...) {
        // It stays in doubt, which is the safe side; what the step threw goes on.
    }
}

}  // namespace pawl::detail
