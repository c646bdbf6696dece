#include "worker/executor.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include <cxxabi.h>

#include <pawl/control.hpp>

#include "worker/job_context.hpp"

namespace pawl::worker {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::optional<std::string> bounded(std::optional<std::string> result, std::size_t max_result) {
    if (!result || result->size() <= max_result) return result;
    return R"({"pawl":"result too large","bytes":)" + std::to_string(result->size()) + "}";
}

Deadlines deadlines_of(SteadyClock::time_point started, std::chrono::nanoseconds timeout, double soft_limit) {
    constexpr auto never = SteadyClock::time_point::max();
    const auto hard_at = timeout > never - started ? never : started + timeout;
    if (!(soft_limit < 1)) return {hard_at, hard_at};
    const auto soft = static_cast<double>((hard_at - started).count()) * std::max(soft_limit, 0.0);
    return {started + SteadyClock::duration(static_cast<SteadyClock::rep>(soft)), hard_at};
}

}  // namespace

/// One run, from decoding to its outcome.
class Executor::Attempt {
public:
    Attempt(const Parts& parts, const std::shared_ptr<StopState>& run, const RunLimits& limits)
        : parts_(parts), run_(run), limits_(limits), started_at_(parts.clock->now()) {}

    model::Outcome returned(detail::HandlerReply reply) const {
        // Whatever stop was requested, the work is done: if its claim is over, the fence will say so.
        if (auto* snooze = std::get_if<Snooze>(&reply)) return of(model::SaidSnooze{snooze->delay});
        if (auto* cancel = std::get_if<Cancel>(&reply)) return of(model::SaidCancel{std::move(cancel->reason)});
        auto& done = std::get<detail::HandlerDone>(reply);
        return of(model::Done{bounded(std::move(done.result), parts_.max_result)});
    }

    // What a handler said counts as what it threw would, when its time is over or its scheduler stops.
    template <class Said>
    model::Outcome said(Said said) const {
        if (run_->reason() != StopReason::none) return threw(std::current_exception());
        return of(std::move(said));
    }

    model::Outcome threw(const std::exception_ptr& thrown) const {
        switch (run_->reason()) {
            case StopReason::none:
                return of(model::Threw{failure(thrown)});
            case StopReason::hard_limit:
                return timed_out(thrown);
            case StopReason::stopping:
            case StopReason::canceled:
            case StopReason::fenced:
                break;
        }
        return interrupted();
    }

    model::Outcome stopped_itself(const Interrupted& interruption) const {
        const auto& slot = run_->job()->slot;
        // One that was kept from another run is an error like any other.
        if (!interruption.belongs_to(slot.token, slot.id)) return threw(std::current_exception());
        return run_->reason() == StopReason::hard_limit ? timed_out(nullptr) : interrupted();
    }

    model::Outcome undecodable(const std::exception_ptr& thrown) const {
        return of(model::Undecodable{parts_.failures.capture(thrown, run_->job(), std::nullopt, parts_.clock->now())});
    }

    model::Outcome timed_out(const std::exception_ptr& thrown) const {
        const Duration limit{limits_.timeout.value_or(std::chrono::nanoseconds::zero())};
        return of(model::TimedOutRun{failure(parts_.failures.timed_out(limit, thrown))});
    }

    std::shared_ptr<const Failure> failure(std::exception_ptr thrown) const {
        return parts_.failures.capture(std::move(thrown), run_->job(), started_at_, parts_.clock->now());
    }

    Time started_at() const noexcept { return started_at_; }

private:
    model::Outcome interrupted() const {
        switch (run_->reason()) {
            case StopReason::canceled:
                return of(model::InterruptedRun{.why = "canceled"});
            case StopReason::fenced:
                return of(model::InterruptedRun{.why = "fenced"});
            case StopReason::none:
            case StopReason::hard_limit:
            case StopReason::stopping:
                break;
        }
        return of(model::InterruptedRun{.why = "stopping"});
    }

    template <class What>
    model::Outcome of(What what) const {
        const auto took = SteadyClock::now() - run_->started();
        return {std::move(what), started_at_, std::chrono::duration_cast<std::chrono::microseconds>(took)};
    }

    const Parts& parts_;
    const std::shared_ptr<StopState>& run_;
    const RunLimits& limits_;
    const Time started_at_;
};

model::Outcome Executor::execute(const detail::Invoker& handler, const std::shared_ptr<StopState>& run,
                                 const RunLimits& limits, const OnThreadExit& on_thread_exit) const {
    const model::ClaimedJob& job = *run->job();
    const Attempt attempt{parts_, run, limits};

    std::unique_ptr<detail::Invocation> invocation;
    try {
        invocation = handler.decode(job.payload);
    } catch (...) {
        return attempt.undecodable(std::current_exception());
    }

    // The one place where the ways a handler can end are told apart. What it says of itself counts at the top level only.
    try {
        JobContext::Run state{job, *run, *parts_.logger, limits.max_retries, attempt.started_at()};
        Watch watch;
        if (limits.timeout) {
            const auto deadlines = deadlines_of(run->started(), *limits.timeout, limits.soft_limit);
            state.deadline = deadlines.hard_at;
            watch = parts_.watchdog->watch(run, deadlines);
        }
        state.steps = parts_.steps.get();
        JobContext context{state};
        return attempt.returned(invocation->run(context));
    } catch (const Snooze& snooze) {
        return attempt.said(model::SaidSnooze{snooze.delay});
    } catch (const Cancel& cancel) {
        return attempt.said(model::SaidCancel{cancel.reason});
    } catch (const Discard& discard) {
        return attempt.said(model::SaidDiscard{discard.reason, attempt.failure(std::current_exception())});
    } catch (const RetryAfter& retry) {
        return attempt.said(
            model::SaidRetryAfter{retry.delay, retry.queue, retry.priority, attempt.failure(std::current_exception())});
    } catch (const WorkerFatal&) {
        return attempt.said(model::SaidWorkerFatal{attempt.failure(std::current_exception())});
    } catch (const Interrupted& interruption) {
        return attempt.stopped_itself(interruption);
#if defined(__GLIBCXX__)
    } catch (const abi::__forced_unwind&) {
        // pthread_exit or a cancellation: C++ has this unwinding go on, so the outcome leaves by another door.
        on_thread_exit(attempt.threw(parts_.failures.thread_exited()));
        throw;
#endif
    } catch (...) {
        return attempt.threw(std::current_exception());
    }
}

model::Outcome Executor::overdue(const StopState& run, const RunLimits& limits) const {
    const auto took = SteadyClock::now() - run.started();
    const auto now = parts_.clock->now();
    const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(took);
    const auto started_at = now - duration;
    const Duration limit{limits.timeout.value_or(std::chrono::nanoseconds::zero())};
    return {model::TimedOutRun{
                parts_.failures.capture(parts_.failures.timed_out(limit, nullptr), run.job(), started_at, now)},
            started_at, duration};
}

}  // namespace pawl::worker
