#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <pawl/errors.hpp>
#include <pawl/scheduler.hpp>

#include "api/make_store.hpp"
#include "api/scheduler_impl.hpp"
#include "api/validate_options.hpp"
#include "base/system_sources.hpp"
#include "observe/log_listener.hpp"

namespace pawl {

namespace {

Options validated(Options options) {
    api::validate(options);
    return options;
}

}  // namespace

Scheduler::Impl::Impl(Options given)
    : options(validated(std::move(given))),
      clock(options.clock ? options.clock : base::system_clock()),
      random(options.random ? options.random : base::system_random()),
      log(std::make_shared<base::Log>(options.logger)),
      events(std::make_shared<observe::EventBus>(observe::EventBus::Options{options.event_queue}, clock, log)),
      store(api::make_store(options)),
      classification(std::make_shared<const Classification>(options.classification)),
      logging(observe::log_events(*events, log)) {
    if (options.on_fatal) {
        fatal = events->subscribe<WorkerStopped>(
            [call = options.on_fatal, told = false](const WorkerStopped& event) mutable {
                // Handlers that ran beside the first one may end the same way.
                if (!std::exchange(told, true)) call(event.record);
            });
    }
    if (options.on_unhealthy) {
        unhealthy = events->subscribe<HealthChanged>(
            [call = options.on_unhealthy, was_unwell = false](const HealthChanged& event) mutable {
                const bool unwell = std::ranges::any_of(event.health.problems, [](const HealthProblem& problem) {
                    return !degraded_only(problem.reason) && problem.reason != HealthReason::stopping;
                });
                if (!std::exchange(was_unwell, unwell) && unwell) call(event.health);
            });
    }
}

Scheduler::Scheduler(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Scheduler::~Scheduler() {
    try {
        stop(Duration{}, impl_->options.hard_grace);
    } catch (const std::exception& error) {
        impl_->log->error("stopping failed: {}", error.what());
    }
}

Handler& Scheduler::add(const detail::KindInfo& info, std::unique_ptr<detail::Invoker> invoker) {
    worker::Entry& entry = impl_->registry.add(
        info.kind,
        {.invoker = std::move(invoker), .payload_version = info.payload_version, .type = info.type, .settings = {}});
    return impl_->handlers.emplace_back(entry.settings, impl_->registry.sealed());
}

void Scheduler::Impl::prepare() const {
    if (options.queues.empty()) throw ConfigError("queues", "are empty: name the queues to take jobs from");
    if (registry.entries().empty()) throw ConfigError("handlers", "are missing: register one with on() before start()");

    for (std::size_t i = 0; i < options.queues.size(); ++i) {
        if (!options.queues[i].requires_runbook || !options.queues[i].runbook.empty()) continue;
        for (const auto& [kind, entry] : registry.entries()) {
            if (!entry.settings.runbook.empty()) continue;
            throw ConfigError("queues[" + std::to_string(i) + "].runbook",
                              "is required, and neither the queue has one nor the kind " + kind);
        }
    }

    if (options.migrate_on_start) store->migrate();
    store->check_schema();
}

std::size_t Scheduler::Impl::drain() {
    {
        const base::MutexLock lock(mutex);
        if (engine || starting)
            throw ConfigError("drain", "is for a scheduler that was not started: its threads run the jobs");
    }
    prepare();
    return make_engine()->drain();
}

void Scheduler::Impl::start() {
    prepare();
    registry.seal();
    try {
        auto started = make_engine();
        started->start();
        const base::MutexLock lock(mutex);
        engine = std::move(started);
    } catch (...) {
        registry.unseal();
        throw;
    }
}

void Scheduler::start() {
    {
        const base::MutexLock lock(impl_->mutex);
        if (impl_->engine || impl_->starting) throw ConfigError("start", "was called before: a scheduler starts once");
        impl_->starting = true;
        impl_->stop_wanted.reset();
    }
    // Not locked meanwhile: it waits for the database, and a handler may run before it has returned.
    std::exception_ptr failed;
    try {
        impl_->start();
    } catch (...) {
        failed = std::current_exception();
    }
    std::optional<std::pair<Duration, Duration>> stop_wanted;
    {
        const base::MutexLock lock(impl_->mutex);
        impl_->starting = false;
        stop_wanted = impl_->stop_wanted;
    }
    if (failed) std::rethrow_exception(failed);
    if (stop_wanted) stop(stop_wanted->first, stop_wanted->second);
}

StopReport Scheduler::stop() { return stop(impl_->options.stop_grace, impl_->options.hard_grace); }

StopReport Scheduler::stop(Duration grace, Duration hard_grace) {
    api::validate_graces(grace, hard_grace);
    runtime::Engine* engine = nullptr;
    {
        // Not held while stopping: a handler that is waited for may call stop() as well.
        const base::MutexLock lock(impl_->mutex);
        engine = impl_->engine.get();
        if (impl_->starting) impl_->stop_wanted.emplace(grace, hard_grace);
    }
    return engine == nullptr ? StopReport{} : engine->stop(grace.microseconds(), hard_grace.microseconds());
}

Health Scheduler::health() const {
    const base::MutexLock lock(impl_->mutex);
    return impl_->engine == nullptr ? Health{} : impl_->engine->health();
}

std::optional<JobInfo> Scheduler::find(JobId id) { return impl_->store->find(id); }

JobCounts Scheduler::counts() { return impl_->store->counts(std::nullopt); }

JobCounts Scheduler::counts(std::string_view queue) { return impl_->store->counts(queue); }

Subscription Scheduler::listen(std::size_t event, std::unique_ptr<detail::Listener> listener) {
    observe::EventTypes types;
    types.set(event);
    return impl_->events->subscribe(types, std::move(listener));
}

}  // namespace pawl
