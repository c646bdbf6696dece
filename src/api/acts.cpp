#include "model/acts.hpp"

#include <utility>

#include <fmt/format.h>

#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/scheduler.hpp>

#include "api/scheduler_impl.hpp"
#include "model/job_spec.hpp"

namespace pawl {
namespace {

constexpr int most_at_once = 1000;
constexpr int most_canceled = 10'000;

void require_at_most(std::string_view field, int limit, int most = most_at_once) {
    if (limit < 1 || limit > most) throw ConfigError(field, fmt::format("is {}; it must be from 1 to {}", limit, most));
}

/// An event about an act, with what is particular to it filled in.
template <class E, class Fill>
void tell(const Scheduler::Impl& impl, const ActOptions& act, Fill fill) {
    if (!impl.events->wanted<E>()) return;
    E event;
    event.time = impl.clock->now();
    event.node = impl.events->node();
    event.by = act.by;
    event.why = act.why;
    fill(event);
    impl.events->publish(Event(std::move(event)));
}

template <class E>
void tell(const Scheduler::Impl& impl, JobId id, const store::Acted& acted, const ActOptions& act) {
    tell<E>(impl, act, [&](E& event) {
        event.id = id;
        event.kind = acted.kind;
        event.queue = acted.queue;
        event.attempt = acted.attempts + 1;
    });
}

/// One act on one queue, told once it is committed.
template <class E, class Verb>
bool act_on(const Scheduler::Impl& impl, std::string_view queue, const ActOptions& act, Verb verb) {
    model::validate_queue(queue);
    model::validate_act(act.by, act.why);
    const bool done = verb(store::ActOnQueue{queue, act.by, act.why});
    if (done) tell<E>(impl, act, [&](E& event) { event.queue = queue; });
    return done;
}

/// One act on one job, told once it is committed.
template <class E, class Verb>
ActResult act_on(const Scheduler::Impl& impl, JobId id, const ActOptions& act, Verb verb) {
    model::validate_act(act.by, act.why);
    const store::Acted acted = verb(store::ActOn{id, act.by, act.why});
    if (acted.done) tell<E>(impl, id, acted, act);
    return {acted.done, acted.state};
}

std::optional<std::string_view> view_of(const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

std::chrono::microseconds spacing_of(const std::optional<double>& per_second) {
    if (!per_second) return {};
    // Written so that what is not a number is refused as well.
    if (!(*per_second > 0.0)) throw ConfigError("per_second", "must be above zero");
    return Duration(std::chrono::duration<double>(1.0 / *per_second)).microseconds();
}

/// Tags are looked for as they are stored.
template <class AnyFilter>
AnyFilter normal(AnyFilter filter) {
    model::validate_filter(filter);
    filter.tags = model::normal_tags(std::move(filter.tags));
    return filter;
}

}  // namespace

ActResult Scheduler::cancel_job(JobId id, const ActOptions& act) {
    return act_on<JobCanceled>(*impl_, id, act, [this](const store::ActOn& on) { return impl_->store->cancel(on); });
}

std::vector<JobId> Scheduler::cancel_jobs(const JobFilter& filter, int limit, const ActOptions& act) {
    const JobFilter wanted = normal(filter);
    require_at_most("limit", limit, most_canceled);
    model::validate_act(act.by, act.why);
    std::vector<JobId> canceled;
    for (const JobId id : impl_->store->standing(wanted, limit)) {
        if (cancel_job(id, act)) canceled.push_back(id);
    }
    return canceled;
}

ActResult Scheduler::pause_job(JobId id, const ActOptions& act) {
    return act_on<JobPaused>(*impl_, id, act, [this](const store::ActOn& on) { return impl_->store->pause(on); });
}

ActResult Scheduler::resume_job(JobId id, const ActOptions& act) {
    return act_on<JobResumed>(*impl_, id, act, [this](const store::ActOn& on) { return impl_->store->resume(on); });
}

ActResult Scheduler::retry_job(JobId id, const RedriveOptions& redrive) {
    model::validate_redrive(redrive.wait, redrive.queue, redrive.priority);
    return act_on<JobRedriven>(*impl_, id, {redrive.by, redrive.why}, [&](const store::ActOn& on) {
        return impl_->store->redrive(
            store::Redrive{on, redrive.wait.microseconds(), view_of(redrive.queue), redrive.priority});
    });
}

bool Scheduler::pause_queue(std::string_view queue, const ActOptions& act) {
    return act_on<QueuePaused>(*impl_, queue, act, [this](const auto& on) { return impl_->store->pause_queue(on); });
}

bool Scheduler::resume_queue(std::string_view queue, const ActOptions& act) {
    return act_on<QueueResumed>(*impl_, queue, act, [this](const auto& on) { return impl_->store->resume_queue(on); });
}

std::vector<QueueInfo> Scheduler::queues() { return impl_->store->queues(); }

std::vector<JobId> Scheduler::retry_jobs(const Filter& filter, int limit, const RedriveManyOptions& redrive) {
    const Filter wanted = normal(filter);
    require_at_most("limit", limit);
    model::validate_act(redrive.by, redrive.why);
    model::validate_redrive(redrive.wait, redrive.queue, redrive.priority);
    const std::vector<store::Redriven> jobs =
        impl_->store->redrive(store::RedriveMany{.filter = wanted,
                                                 .limit = limit,
                                                 .by = redrive.by,
                                                 .why = redrive.why,
                                                 .wait = redrive.wait.microseconds(),
                                                 .queue = view_of(redrive.queue),
                                                 .priority = redrive.priority,
                                                 .spacing = spacing_of(redrive.per_second)});
    std::vector<JobId> ids;
    for (const store::Redriven& job : jobs) {
        ids.push_back(job.id);
        tell<JobRedriven>(*impl_, job.id, {.kind = job.kind, .queue = job.queue}, {redrive.by, redrive.why});
    }
    return ids;
}

std::int64_t Scheduler::count_dead_letters(const Filter& filter) { return impl_->store->count_failed(normal(filter)); }

DeadLetterPage Scheduler::dead_letters(const Filter& filter, const PageOptions& page) {
    const Filter wanted = normal(filter);
    require_at_most("limit", page.limit);
    std::optional<model::Cursor> after;
    if (page.after) after = model::parse_cursor(*page.after);
    return impl_->store->dead_letters({wanted, page.limit, after});
}

std::vector<AttemptInfo> Scheduler::attempts(JobId id) { return impl_->store->attempts(id); }

std::vector<Act> Scheduler::acts(JobId id) { return impl_->store->acts(id); }

}  // namespace pawl
