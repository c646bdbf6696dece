#include <map>
#include <thread>
#include <utility>

#include <pawl/errors.hpp>

#include "api/scheduler_impl.hpp"
#include "failure/decide.hpp"

namespace pawl {

namespace {

using namespace std::chrono_literals;

int threads_of(const QueueOptions& queue) {
    if (queue.concurrency > 0) return queue.concurrency;
    // Zero where the machine does not tell.
    const unsigned hardware = std::thread::hardware_concurrency();
    return hardware > 0 ? static_cast<int>(hardware) : 1;
}

using Breakers = std::map<std::string, std::shared_ptr<failure::Breaker>, std::less<>>;

std::shared_ptr<failure::Breaker> breaker_of(const std::string& kind, const std::string& service,
                                             const Breakers& breakers) {
    if (service.empty()) return nullptr;
    const auto found = breakers.find(service);
    if (found != breakers.end()) return found->second;
    throw ConfigError("circuit_breaker",
                      "\"" + service + "\" of kind \"" + kind + "\" is unknown: give it to Scheduler::circuit_breaker");
}

}  // namespace

runtime::KindSetup Scheduler::Impl::kind_setup(const std::string& kind, const worker::Entry& entry) const {
    Rules rules = entry.settings.rules;
    rules.inherit(options.rules);
    return {
        .name = kind,
        .payload_version = entry.payload_version,
        .invoker = entry.invoker,
        .policy = {.rules = std::move(rules),
                   .retry_policy = options.retry_policy,
                   .sanitizer = options.sanitizer,
                   .classification = classification,
                   .max_retries = entry.settings.max_retries.value_or(options.max_retries),
                   .backoff = entry.settings.backoff.value_or(options.backoff),
                   .crash_budget = options.crash_budget,
                   .non_idempotent = entry.settings.non_idempotent,
                   .permanent_errors = entry.settings.permanent_errors.value_or(options.permanent_errors),
                   .budget = options.retry_budget ? std::make_shared<failure::Budget>(*options.retry_budget) : nullptr},
        .timeout = entry.settings.timeout,
        .runbook = entry.settings.runbook,
        .breaker = breaker_of(kind, entry.settings.circuit_breaker, breakers)};
}

std::unique_ptr<runtime::Engine> Scheduler::Impl::make_engine() const {
    runtime::EngineSetup setup;
    for (const auto& [kind, entry] : registry.entries()) setup.kinds.push_back(kind_setup(kind, entry));
    for (const auto& [service, breaker] : breakers) setup.breakers.push_back(breaker);
    for (const QueueOptions& queue : options.queues) {
        setup.queues.push_back({.name = queue.name,
                                .concurrency = threads_of(queue),
                                .runbook = queue.runbook,
                                .halts = queue.on_dead_letter == DeadLetterAction::pause_queue});
    }

    setup.node_expiry = options.node_expiry.microseconds();
    setup.heartbeat = options.heartbeat.microseconds();
    setup.poll_floor = options.poll_floor.value_or(options.listen ? 5s : 1s).microseconds();
    setup.listen = options.listen;
    setup.claim_limit = options.claim_limit;
    setup.prefetch_target = options.prefetch_target.microseconds();
    setup.default_timeout = options.default_timeout;
    setup.soft_limit = options.soft_limit;
    setup.timeout_grace = options.timeout_grace.microseconds();
    setup.max_abandoned_threads = options.max_abandoned_threads;
    setup.max_result = options.max_result;
    setup.max_payload = options.max_payload;
    setup.retention = {.succeeded = options.retention.succeeded,
                       .failed = options.retention.failed,
                       .canceled = options.retention.canceled};
    setup.reconnect_first = options.reconnect.first.microseconds();
    setup.reconnect_longest = options.reconnect.longest.microseconds();
    setup.store = store;
    setup.events = events;
    setup.log = log;
    setup.clock = clock;
    setup.random = random;
    setup.classification = classification;
    return std::make_unique<runtime::Engine>(std::move(setup));
}

}  // namespace pawl
