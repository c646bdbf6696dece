#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/detail/invoker.hpp>
#include <pawl/stop_report.hpp>

#include "base/log.hpp"
#include "failure/breaker.hpp"
#include "failure/decide.hpp"
#include "observe/event_bus.hpp"
#include "store/store.hpp"

namespace pawl::runtime {

/// A kind that this node runs.
struct KindSetup {
    std::string name;
    int payload_version{};
    std::shared_ptr<const detail::Invoker> invoker;
    failure::FailurePolicy policy;
    /// The kind's own; none: the scheduler's.
    std::optional<Duration> timeout;
    std::string runbook{};
    /// Of the service that it calls; null: none.
    std::shared_ptr<failure::Breaker> breaker;
};

struct QueueSetup {
    std::string name;
    int concurrency{1};
    std::string runbook{};
    bool halts{};
};

/// What an engine is built of. Validated before it comes here; fields as in Options, with its defaults resolved.
struct EngineSetup {
    std::vector<KindSetup> kinds;
    std::vector<QueueSetup> queues;
    /// All of the scheduler.
    std::vector<std::shared_ptr<failure::Breaker>> breakers;
    std::chrono::microseconds node_expiry{};
    std::chrono::microseconds heartbeat{};
    std::chrono::microseconds poll_floor{};
    bool listen{true};
    int claim_limit{512};
    std::chrono::microseconds prefetch_target{};
    Duration default_timeout;
    double soft_limit{0.8};
    std::chrono::microseconds timeout_grace{};
    int max_abandoned_threads{4};
    std::size_t max_result{};
    std::size_t max_payload{};
    store::Retention retention;
    std::chrono::microseconds reconnect_first{};
    std::chrono::microseconds reconnect_longest{};

    std::shared_ptr<store::Store> store;
    std::shared_ptr<observe::EventBus> events;
    std::shared_ptr<const base::Log> log;
    std::shared_ptr<const Clock> clock;
    std::shared_ptr<RandomSource> random;
    std::shared_ptr<const Classification> classification;
};

/// Everything of a started scheduler that runs: it starts the services in order, and stops them in the opposite one.
///
/// **Threads**: start() once; stop() from any thread, a handler's too, any number of times.
/// **Lifetime**: what the setup shares may live on in a thread that had to be left to its handler.
class Engine {
public:
    explicit Engine(EngineSetup setup);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    /// Stops without a grace.
    ~Engine();

    /// Registers the node and starts its threads. The schema has been checked before.
    ///
    /// **Throws** `StoreError`; then nothing runs.
    void start();

    /// See Scheduler::stop. The first call's report is given to all.
    StopReport stop(std::chrono::microseconds grace, std::chrono::microseconds hard_grace);

    /// See Scheduler::health.
    [[nodiscard]] Health health() const;

    /// Runs due jobs on the calling thread through the same path, until none is due, and returns how many runs there
    /// were. Promotes what has become due; does not wait for what is due later. Not after start().
    std::size_t drain();

private:
    struct Impl;

    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::runtime
