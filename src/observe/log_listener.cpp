#include "observe/log_listener.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace pawl::observe {
namespace {

using base::LogLevel;

// Which events are written at which level. One that stands nowhere is not written.
EventTypes types_at(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return event_types<JobStarted, JobSucceeded, JobSnoozed, Purged>();
        case LogLevel::info:
            return event_types<JobInterrupted, JobDiscarded, JobCanceled, JobPaused, JobResumed, JobRedriven,
                               ThreadReturned, NodeStarted, NodeStopped, QueuePaused, QueueResumed, BreakerHalfOpen,
                               BreakerClosed>();
        case LogLevel::warn:
            return event_types<JobRetrying, JobSoftLimit, JobExecutionTimedOut, StaleOutcome, JobRescued,
                               MisbehavingPolicy, NodeExpired, HealthChanged, BreakerOpened, EventsDropped,
                               HorizonHeld>();
        case LogLevel::error:
            return event_types<JobDlq, PoisonOrBug, ThreadAbandoned, NodeFenced, WorkerStopped, QueueHalted>();
    }
    return {};
}

LogLevel level_of(const Event& event) {
    for (const auto level : {LogLevel::debug, LogLevel::info, LogLevel::warn}) {
        if (types_at(level).test(event.index())) return level;
    }
    return LogLevel::error;
}

double seconds(std::chrono::microseconds span) { return std::chrono::duration<double>(span).count(); }

// A record may hold newlines and tabs; a log line is one line.
std::string one_line(std::string_view text) {
    std::string line;
    line.reserve(text.size());
    for (const char c : text) {
        if (c == '\n')
            line += "\\n";
        else if (c == '\t')
            line += "\\t";
        else
            line += c;
    }
    return line;
}

std::string text_of(const ErrorRecord& record) {
    auto text = fmt::format("{}: {}", one_line(record.type), one_line(record.message));
    for (const auto& cause : record.causes) {
        text += fmt::format(" <- {}: {}", one_line(cause.type), one_line(cause.message));
    }
    return text;
}

std::string text_of(const char* act, std::string_view by, std::string_view why) {
    std::string text = act;
    if (!by.empty()) text += fmt::format(" by {}", one_line(by));
    if (!why.empty()) text += fmt::format(": {}", one_line(why));
    return text;
}

// What happened, in words. What identifies the job and the node is added by the log.
struct Words {
    std::string operator()(const JobStarted&) const { return "started"; }
    std::string operator()(const JobSucceeded& e) const {
        return fmt::format("succeeded in {:.3f} s", seconds(e.duration));
    }
    std::string operator()(const JobRetrying& e) const {
        return fmt::format("failed, again in {:.3f} s: {}", seconds(e.delay), text_of(e.record));
    }
    std::string operator()(const JobSnoozed&) const { return "snoozed"; }
    std::string operator()(const JobInterrupted& e) const { return fmt::format("interrupted: {}", one_line(e.why)); }
    std::string operator()(const JobSoftLimit& e) const {
        return fmt::format("runs for {:.3f} s, beyond its soft limit of {:.3f} s", seconds(e.elapsed),
                           seconds(e.limit));
    }
    std::string operator()(const JobExecutionTimedOut& e) const {
        return fmt::format("timed out after {:.3f} s, its limit is {:.3f} s", seconds(e.elapsed), seconds(e.limit));
    }
    std::string operator()(const JobDlq& e) const {
        return fmt::format("is a dead letter ({}, {} counted attempts): {}{}{}", to_string(e.reason), e.attempts,
                           text_of(e.record), e.runbook.empty() ? "" : "; what to do: ", one_line(e.runbook));
    }
    std::string operator()(const JobDiscarded& e) const { return fmt::format("discarded: {}", text_of(e.record)); }
    // The error stands in the line about the dead letter.
    std::string operator()(const PoisonOrBug&) const {
        return "used up its attempts on an error of unknown class: it is poison, or its handler has a bug";
    }
    std::string operator()(const JobCanceled& e) const { return text_of("canceled", e.by, e.why); }
    std::string operator()(const JobPaused& e) const { return text_of("paused", e.by, e.why); }
    std::string operator()(const JobResumed& e) const { return text_of("resumed", e.by, e.why); }
    std::string operator()(const JobRedriven& e) const { return text_of("redriven", e.by, e.why); }
    std::string operator()(const StaleOutcome&) const {
        return "came to an outcome after its claim was over; it was dropped";
    }
    std::string operator()(const JobRescued& e) const {
        return fmt::format("rescued from lost node {}{}", e.from_node, e.suspect ? ", and suspect" : "");
    }
    std::string operator()(const MisbehavingPolicy& e) const {
        return fmt::format("{} misbehaved, used {} instead", one_line(e.where), one_line(e.used_instead));
    }
    std::string operator()(const ThreadAbandoned& e) const {
        return fmt::format("does not come back after {:.0f} s: its thread is left to it", seconds(e.elapsed));
    }
    std::string operator()(const ThreadReturned& e) const {
        return fmt::format("came back after {:.0f} s, long given up", seconds(e.elapsed));
    }
    std::string operator()(const NodeStarted&) const { return "node started"; }
    std::string operator()(const NodeStopped&) const { return "node stopped"; }
    std::string operator()(const NodeExpired& e) const { return fmt::format("node {} expired", e.expired_node); }
    std::string operator()(const NodeFenced&) const {
        return "no heartbeat succeeded for the expiry time: handlers are stopped until the database is back";
    }
    std::string operator()(const WorkerStopped& e) const {
        return fmt::format("takes no more jobs after a fatal error: {}", text_of(e.record));
    }
    std::string operator()(const HealthChanged& e) const {
        if (e.health.problems.empty()) return "all is well again";
        std::string text = e.health.ready ? "degraded" : "not ready";
        for (const HealthProblem& problem : e.health.problems)
            text += fmt::format("; {}: {}", to_string(problem.reason), one_line(problem.text));
        return text;
    }
    std::string operator()(const QueuePaused& e) const { return of_queue("paused", e); }
    std::string operator()(const QueueResumed& e) const { return of_queue("resumed", e); }
    std::string operator()(const QueueHalted& e) const { return of_queue("halted", e); }
    std::string operator()(const BreakerOpened& e) const {
        return fmt::format("breaker of {} opened", one_line(e.service));
    }
    std::string operator()(const BreakerHalfOpen& e) const {
        return fmt::format("breaker of {} half open", one_line(e.service));
    }
    std::string operator()(const BreakerClosed& e) const {
        return fmt::format("breaker of {} closed", one_line(e.service));
    }
    std::string operator()(const Purged& e) const {
        return fmt::format("purged {} jobs, {} attempts", e.jobs, e.attempts);
    }
    std::string operator()(const EventsDropped& e) const {
        return fmt::format("listeners are too slow: {} events dropped", e.count);
    }
    std::string operator()(const HorizonHeld& e) const {
        return fmt::format("{} holds the horizon for {:.0f} s: dead rows pile up", one_line(e.holder), seconds(e.held));
    }
    // Told by what follows them, or logged where they occur.
    std::string operator()(const JobFailed&) const { return {}; }
    std::string operator()(const MisbehavingHook&) const { return {}; }

private:
    static std::string of_queue(const char* act, const QueueEvent& e) {
        return fmt::format("queue {} {}", e.queue, text_of(act, e.by, e.why));
    }
};

class LogListener final : public detail::Listener {
public:
    explicit LogListener(std::shared_ptr<const base::Log> log) : log_(std::move(log)) {}

    void hear(const Event& event) override {
        const auto level = level_of(event);
        if (!log_->enabled(level)) return;
        const auto text = std::visit(Words{}, event);
        std::visit(
            [&](const auto& e) {
                if constexpr (requires { e.kind; }) {
                    log_->line(level, {e.id, e.kind, e.attempt}, "{}", text);
                } else {
                    write(level, text);
                }
            },
            event);
    }

private:
    void write(LogLevel level, const std::string& text) const {
        switch (level) {
            case LogLevel::debug:
                return log_->debug("{}", text);
            case LogLevel::info:
                return log_->info("{}", text);
            case LogLevel::warn:
                return log_->warn("{}", text);
            case LogLevel::error:
                return log_->error("{}", text);
        }
    }

    const std::shared_ptr<const base::Log> log_;
};

}  // namespace

Subscription log_events(EventBus& bus, std::shared_ptr<const base::Log> log) {
    EventTypes types;
    for (const auto level : {LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error}) {
        if (log->enabled(level)) types |= types_at(level);
    }
    return bus.subscribe(types, std::make_unique<LogListener>(std::move(log)));
}

}  // namespace pawl::observe
