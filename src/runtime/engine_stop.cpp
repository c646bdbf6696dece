#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/engine_impl.hpp"

// Stopping, in phases that lose nothing: no more claims; what has not begun goes back; the running ones get their grace,
// then their stop tokens, then are given up; what was decided is written; the node says goodbye.

namespace pawl::runtime {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

/// How long the last outcomes may take to be written.
constexpr std::chrono::seconds last_settle_bound{5};

}  // namespace

void Engine::Impl::stop_working() {
    claim_->close();
    flow_->release(pool_->close(), "a fatal error stopped the workers");
    setup_.log->error("a handler threw a fatal type: this scheduler takes no more jobs");
}

StopReport Engine::Impl::stop(std::chrono::microseconds grace, std::chrono::microseconds hard_grace) {
    const bool inside = pool_->runs_on_this_thread();
    {
        const base::MutexLock lock(mutex_);
        if (!started_) return {};
        if (stopping_ != Stopping::no) {
            // A handler must not wait for a stop that waits for the handler.
            while (stopping_ == Stopping::under_way && !inside) stopped_.wait(mutex_);
            return report_;
        }
        if (inside) {
            stopper_ = base::Thread("pawl stop", [this, grace, hard_grace] {
                try {
                    (void)stop_once(grace, hard_grace);
                } catch (const std::exception& error) {
                    setup_.log->error("stopping failed: {}", error.what());
                }
            });
        }
        stopping_ = Stopping::under_way;
        if (inside) return report_;
    }
    return stop_once(grace, hard_grace);
}

StopReport Engine::Impl::stop_once(std::chrono::microseconds grace, std::chrono::microseconds hard_grace) {
    const auto done = [this](const StopReport& report) {
        const base::MutexLock lock(mutex_);
        report_ = report;
        stopping_ = Stopping::done;
        stopped_.notify_all();
    };
    try {
        StopReport report = stop_in_phases(grace, hard_grace);
        done(report);
        return report;
    } catch (...) {
        done({});
        throw;
    }
}

StopReport Engine::Impl::stop_in_phases(std::chrono::microseconds grace, std::chrono::microseconds hard_grace) {
    const SteadyTime begun = std::chrono::steady_clock::now();
    settle_->begin_report();
    if (listen_loop_) {
        listen_loop_->request_stop();
        listener_->interrupt();
        listen_loop_->stop();
    }
    claim_->close();
    claim_loop_->stop();
    flow_->release(pool_->close(), "it had not begun when its node stopped");

    if (!pool_->wait_idle(begun + grace)) {
        pool_->request_stop(worker::StopReason::stopping);
        (void)pool_->wait_idle(begun + grace + hard_grace);
    }
    StopReport report;
    for (const worker::RunningJob& running : pool_->running()) {
        // Whoever speaks first for the run: we give it back now, or its handler comes back this very moment.
        if (running.run->claim_verdict()) flow_->release({running.run->job()}, "it still ran after the hard grace");
    }
    upkeep_loop_->stop();
    queue_->open_wide();
    for (const worker::RunningJob& running : pool_->finish(std::chrono::steady_clock::now())) {
        report.still_running.push_back(running.run->job()->slot.id);
    }
    settle_the_rest();
    settle_loop_->stop();
    report.jobs = settle_->report();
    owed_->stop(std::chrono::steady_clock::now() + flush_bound);
    watchdog_->stop();
    lease_loop_->stop();
    pulse_loop_->stop();
    try {
        setup_.store->say_goodbye(publisher_->node());
    } catch (const std::exception& error) {
        setup_.log->warn("the goodbye could not be said ({}): what is left will be taken over after the expiry",
                         error.what());
    }
    left_running_.store(static_cast<int>(report.still_running.size()), std::memory_order_release);
    health_->step();
    publisher_->node_event(NodeStopped{});
    setup_.log->info("node {} has stopped: {} jobs settled or given back, {} handlers still run", publisher_->node(),
                     report.jobs.size(), report.still_running.size());
    setup_.events->stop(flush_bound);
    return report;
}

void Engine::Impl::settle_the_rest() {
    const SteadyTime until = std::chrono::steady_clock::now() + last_settle_bound;
    while (!settle_->idle()) {
        const auto left = until - std::chrono::steady_clock::now();
        if (left <= SteadyTime::duration::zero() || !settle_loop_->run_step(left)) return;
        if (settle_loop_->failures() > 1) return;
    }
}

}  // namespace pawl::runtime
