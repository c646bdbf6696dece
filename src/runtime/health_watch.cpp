#include "runtime/health_watch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace pawl::runtime {
namespace {

/// A failure or two is how a lost connection is noticed and opened anew.
constexpr int failures_of_a_trouble = 2;
/// Longer than any statement may take.
constexpr std::chrono::seconds hanging{35};
/// Heartbeats that may be missed.
constexpr int late_heartbeats = 3;

double seconds(std::chrono::nanoseconds span) { return std::chrono::duration<double>(span).count(); }

/// What is wrong with a loop, in words; none when it does its work.
std::optional<std::string> trouble(const base::LoopVitals& loop) {
    if (loop.failures >= failures_of_a_trouble)
        return fmt::format("it failed {} times in a row, at last with: {}", loop.failures, loop.last_failure);
    if (loop.in_step_for > hanging) return fmt::format("its step has hung for {:.0f} s", seconds(loop.in_step_for));
    return std::nullopt;
}

bool unreachable(const base::LoopVitals& loop) {
    return loop.failures > 0 && loop.cause == base::FailureCause::connection;
}

}  // namespace

Health judge(const Vitals& vitals) {
    Health health{.live = true, .ready = true, .problems = {}};
    const auto say = [&](HealthReason reason, std::string text) {
        health.ready = health.ready && degraded_only(reason);
        health.problems.push_back({reason, std::move(text)});
    };
    const auto say_of = [&](HealthReason reason, const base::LoopVitals& loop) {
        if (auto text = trouble(loop)) say(reason, std::move(*text));
    };

    // One lost connection is no lost database.
    if (unreachable(vitals.pulse) && (unreachable(vitals.claim) || vitals.pulse.failures >= failures_of_a_trouble))
        say(HealthReason::database_unreachable, vitals.pulse.last_failure);
    if (vitals.closed && !vitals.stopping) {
        say(HealthReason::not_claiming, "a fatal error stopped the workers");
    } else {
        say_of(HealthReason::not_claiming, vitals.claim);
    }
    say_of(HealthReason::not_settling, vitals.settle);
    // Towards the end of a stop there are no more of them.
    if (vitals.since_heartbeat > vitals.heartbeat * late_heartbeats && !vitals.fenced && !vitals.stopping) {
        say(HealthReason::heartbeat_late,
            fmt::format("the last one got through {:.1f} s ago", seconds(vitals.since_heartbeat)));
    }
    if (vitals.fenced) say(HealthReason::fenced, "handlers are stopped until the database is back");
    if (vitals.listen.failures > 0) say(HealthReason::listener_lost, vitals.listen.last_failure);
    if (vitals.lost_slots > 0 || vitals.left_running > 0) {
        health.live = false;
        say(HealthReason::threads_abandoned,
            vitals.left_running > 0
                ? fmt::format("{} handlers still ran when stop() gave up: end the process", vitals.left_running)
                : fmt::format("{} slots are lost to handlers that do not end: restart the process", vitals.lost_slots));
    }
    if (!vitals.halted_queues.empty())
        say(HealthReason::queue_halted,
            fmt::format("halted by a dead letter: {}", fmt::join(vitals.halted_queues, ", ")));
    for (const base::LoopVitals* loop : {&vitals.claim, &vitals.settle, &vitals.pulse}) {
        if (loop->failures == 0 || loop->cause != base::FailureCause::schema) continue;
        say(HealthReason::schema_mismatch, loop->last_failure);
        break;
    }
    if (vitals.stopping) say(HealthReason::stopping, "stop() was called");
    return health;
}

void HealthWatch::step() {
    HealthChanged event;
    event.health = look_();
    std::vector<HealthReason> reasons;
    for (const HealthProblem& problem : event.health.problems) {
        // Who stops it knows that.
        if (problem.reason != HealthReason::stopping) reasons.push_back(problem.reason);
    }
    const base::MutexLock lock(mutex_);
    if (reasons == said_) return;
    said_ = std::move(reasons);
    publisher_->node_event(std::move(event));
}

}  // namespace pawl::runtime
