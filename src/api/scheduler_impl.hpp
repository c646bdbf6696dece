#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <pawl/scheduler.hpp>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "failure/breaker.hpp"
#include "observe/event_bus.hpp"
#include "runtime/engine.hpp"
#include "store/store.hpp"
#include "worker/registry.hpp"

namespace pawl {

struct Scheduler::Impl {
    explicit Impl(Options given);
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() = default;

    const Options options;
    const std::shared_ptr<const Clock> clock;
    const std::shared_ptr<RandomSource> random;
    const std::shared_ptr<base::Log> log;
    const std::shared_ptr<observe::EventBus> events;
    const std::shared_ptr<store::Store> store;
    const std::shared_ptr<const Classification> classification;

    worker::Registry registry;
    /// What `on` returned references to.
    std::deque<Handler> handlers;
    /// By service.
    std::map<std::string, std::shared_ptr<failure::Breaker>, std::less<>> breakers;

    mutable base::Mutex mutex;
    bool starting PAWL_GUARDED_BY(mutex) = false;
    /// A stop that came while starting, from a handler that was quick: its two graces.
    std::optional<std::pair<Duration, Duration>> stop_wanted PAWL_GUARDED_BY(mutex);
    /// Set by a start that succeeded, and then until the end.
    std::unique_ptr<runtime::Engine> engine PAWL_GUARDED_BY(mutex);

    /// Before the first job is enqueued or run, and after the last one, it listens for the log.
    Subscription logging;
    /// For Options::on_fatal.
    Subscription fatal;
    /// For Options::on_unhealthy.
    Subscription unhealthy;

    /// The engine, not started: of the options and the handlers as they are now.
    [[nodiscard]] std::unique_ptr<runtime::Engine> make_engine() const;

    /// All that has a say about a kind.
    [[nodiscard]] runtime::KindSetup kind_setup(const std::string& kind, const worker::Entry& entry) const;

    void start();

    /// Runs what is due on this thread, on an engine of its own, so that it may be called again and start() may follow.
    std::size_t drain();

private:
    /// What both have to have before there can be an engine.
    void prepare() const;
};

}  // namespace pawl
