#include "runtime/publisher.hpp"

#include <utility>

namespace pawl::runtime {
namespace {

std::chrono::microseconds elapsed(const worker::StopState& run) {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - run.started());
}

template <class E>
E failure_event(E event, const model::Settlement& settlement) {
    if (settlement.decision.error) event.record = *settlement.decision.error;
    event.reason = settlement.decision.reason;
    event.attempts = settlement.job->facts.attempts + (settlement.decision.counted ? 1 : 0);
    return event;
}

}  // namespace

void Publisher::set_node(model::NodeId node) noexcept {
    node_.store(node, std::memory_order_relaxed);
    events_->set_node(node);
}

template <class E>
E Publisher::about(const model::ClaimedJob& job) const {
    E event;
    event.time = clock_->now();
    event.node = node();
    event.id = job.slot.id;
    event.kind = job.kind;
    event.queue = job.queue;
    event.attempt = job.attempt();
    return event;
}

template <class E>
void Publisher::add(std::vector<Event>& events, E event) const {
    events.emplace_back(std::move(event));
}

void Publisher::started(const model::ClaimedJob& job) const {
    if (!events_->wanted<JobStarted>()) return;
    auto event = about<JobStarted>(job);
    event.claim_token = job.slot.token;
    events_->publish(Event(std::move(event)));
}

void Publisher::soft_limit(const worker::StopState& run, std::chrono::microseconds limit) const {
    if (!events_->wanted<JobSoftLimit>()) return;
    auto event = about<JobSoftLimit>(*run.job());
    event.limit = limit;
    event.elapsed = elapsed(run);
    events_->publish(Event(std::move(event)));
}

void Publisher::abandoned(const worker::StopState& run) const {
    auto event = about<ThreadAbandoned>(*run.job());
    event.elapsed = elapsed(run);
    events_->publish(Event(std::move(event)));
}

void Publisher::returned(const worker::StopState& run) const {
    auto event = about<ThreadReturned>(*run.job());
    event.elapsed = elapsed(run);
    events_->publish(Event(std::move(event)));
}

void Publisher::settled(std::span<const Decided> batch, const store::Settled& settled) const {
    std::vector<Event> events;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (settled.applied[i]) {
            applied(events, batch[i]);
        } else if (events_->wanted<StaleOutcome>()) {
            auto event = about<StaleOutcome>(*batch[i].settlement.job);
            event.claim_token = batch[i].settlement.job->slot.token;
            add(events, std::move(event));
        }
        // Also of a stale one: no job runs here any more, whoever has that one now.
        const model::Decision& decision = batch[i].settlement.decision;
        if (decision.stop_pool && events_->wanted<WorkerStopped>())
            add(events, WorkerStopped{{clock_->now(), node()}, decision.error.value_or(ErrorRecord{})});
    }
    for (const store::Halted& halted : settled.halted) {
        QueueHalted event;
        event.time = clock_->now();
        event.node = node();
        event.queue = halted.name;
        event.why = "job " + std::to_string(halted.by) + " is a dead letter";
        add(events, std::move(event));
    }
    if (!events.empty()) events_->publish(std::move(events));
}

void Publisher::applied(std::vector<Event>& events, const Decided& decided) const {
    const model::Settlement& settlement = decided.settlement;
    const model::ClaimedJob& job = *settlement.job;
    const model::Decision& decision = settlement.decision;
    const Aftermath& aftermath = decided.aftermath;

    if (aftermath.rescued_from != 0 && events_->wanted<JobRescued>()) {
        auto event = about<JobRescued>(job);
        event.from_node = aftermath.rescued_from;
        event.suspect = job.facts.suspect();
        add(events, std::move(event));
    }
    for (const failure::Misbehavior& misbehavior : aftermath.misbehaving_policies) {
        auto event = about<MisbehavingPolicy>(job);
        event.where = misbehavior.where;
        event.used_instead = misbehavior.what;
        add(events, std::move(event));
    }
    if (aftermath.timed_out && events_->wanted<JobExecutionTimedOut>()) {
        auto event = about<JobExecutionTimedOut>(job);
        event.limit = *aftermath.timed_out;
        event.elapsed = settlement.duration;
        add(events, std::move(event));
    }
    switch (decision.verdict) {
        case model::Verdict::complete:
            if (events_->wanted<JobSucceeded>()) {
                auto event = about<JobSucceeded>(job);
                event.duration = settlement.duration;
                event.result_size = decision.result ? decision.result->size() : 0;
                add(events, std::move(event));
            }
            break;
        case model::Verdict::retry_at:
            if (events_->wanted<JobRetrying>()) {
                auto event = about<JobRetrying>(job);
                if (decision.error) event.record = *decision.error;
                event.reason = decision.reason;
                event.rule = decision.rule;
                event.delay = decision.delay;
                event.run_at = clock_->now() + decision.delay;
                add(events, std::move(event));
            }
            break;
        case model::Verdict::dead_letter:
            if (events_->wanted<JobFailed>()) add(events, failure_event(about<JobFailed>(job), settlement));
            if (events_->wanted<JobDlq>()) {
                auto event = failure_event(about<JobDlq>(job), settlement);
                event.runbook = aftermath.runbook;
                add(events, std::move(event));
            }
            if (aftermath.poison_or_bug) add(events, failure_event(about<PoisonOrBug>(job), settlement));
            break;
        case model::Verdict::discard:
            if (events_->wanted<JobFailed>()) add(events, failure_event(about<JobFailed>(job), settlement));
            if (events_->wanted<JobDiscarded>()) add(events, failure_event(about<JobDiscarded>(job), settlement));
            if (aftermath.poison_or_bug) add(events, failure_event(about<PoisonOrBug>(job), settlement));
            break;
        case model::Verdict::snooze:
            if (events_->wanted<JobSnoozed>()) {
                auto event = about<JobSnoozed>(job);
                event.run_at = clock_->now() + decision.delay;
                add(events, std::move(event));
            }
            break;
        case model::Verdict::release:
            if (events_->wanted<JobInterrupted>()) {
                auto event = about<JobInterrupted>(job);
                event.why = aftermath.why;
                add(events, std::move(event));
            }
            break;
        case model::Verdict::cancel:
            if (events_->wanted<JobCanceled>()) {
                auto event = about<JobCanceled>(job);
                event.by = "handler";
                event.why = decision.detail;
                add(events, std::move(event));
            }
            break;
    }
}

}  // namespace pawl::runtime
