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

}  // namespace

OpenStep::OpenStep(const JobRun& run, std::string_view name, pqxx::dbtransaction* transaction)
    : run_(run), name_(name), transaction_(transaction) {
    model::validate_queue(name_, "step");
    model::StepBegun begun = steps_of(run_).begin(transaction_, {run_.job.slot, name_});
    require_claim(begun.state != model::StepState::stale, run_);
    done_ = begun.state == model::StepState::done;
    result_ = begun.result.value_or("null");
    if (begun.state == model::StepState::in_doubt) doubt_.emplace(name_, begun.begun_by);
}

void OpenStep::begin_anew() {
    const model::StepBegun begun =
        steps_of(run_).begin(transaction_, {run_.job.slot, name_, doubt_.value().begun_by()});
    require_claim(begun.state == model::StepState::begun, run_);
}

void OpenStep::finish(std::optional<std::string> result) {
    require_claim(steps_of(run_).finish(transaction_, {run_.job.slot, name_}, result), run_);
}

void OpenStep::undo() noexcept {
    // In the caller's transaction the rollback does it. A thread that is being ended says nothing about its step.
    if (transaction_ != nullptr || std::current_exception() == nullptr) return;
    try {
        steps_of(run_).forget({run_.job.slot, name_});
    } catch (...) {
        // It stays in doubt, which is the safe side; what the step threw goes on.
    }
}

}  // namespace pawl::detail
