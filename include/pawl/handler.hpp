#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include <pawl/backoff.hpp>
#include <pawl/classification.hpp>
#include <pawl/clock.hpp>
#include <pawl/detail/invoker.hpp>
#include <pawl/export.hpp>
#include <pawl/rules.hpp>

namespace pawl {

/// What holds for all jobs of one kind where they run. A job's own values come before these, and these before the
/// scheduler's.
struct HandlerSettings {
    std::optional<int> max_retries;
    std::optional<Backoff> backoff;
    std::optional<Duration> timeout;
    std::string runbook;
    std::optional<PermanentErrors> permanent_errors;
    /// The service whose breaker keeps its jobs back; empty: none.
    std::string circuit_breaker;
    bool non_idempotent{};
    Rules rules;
};

/// A registered handler, for saying how its kind is treated. Given by `Scheduler::on`.
///
///     scheduler.on<ChargeCard>(charge).retry_on<GatewayBusy>({.attempts = 10}).with_timeout(30s);
///
/// **Throws** `ConfigError` from every member once the scheduler was started, and for values out of range.
/// **Threads**: confined to one thread.
/// **Lifetime**: as long as the scheduler.
class PAWL_EXPORT Handler : public RuleClauses<Handler> {
public:
    Handler(HandlerSettings& settings, const std::atomic<bool>& sealed) noexcept
        : settings_(settings), sealed_(sealed) {}
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    ~Handler() = default;

    /// Retries after a first failed run, when a job does not say it itself. Zero runs it once. Range: 0 and more.
    Handler& with_max_retries(int retries);
    /// The wait before each retry, when a job does not say it itself.
    Handler& with_backoff(Backoff backoff);
    /// The hard limit of one run, when a job does not say it itself. Range: above zero; `no_timeout` for none.
    Handler& with_timeout(Duration timeout);
    /// Whether permanent errors of this kind become dead letters. Default: as `Options::permanent_errors` says.
    Handler& with_permanent_errors(PermanentErrors permanent_errors);

    /// What to do about its dead letters: a text or an address, at most 2,000 bytes, shown with each of them.
    Handler& with_runbook(std::string_view runbook);
    /// Puts jobs back, uncounted, while the breaker of this service is open; see CircuitBreaker. `Scheduler::start` throws
    /// `ConfigError` when the scheduler has no breaker of that name.
    Handler& with_circuit_breaker(std::string_view service);
    /// Running it twice would do harm: once a run may have begun, a job is never retried or rescued by itself. Any error,
    /// time-out, interruption or loss makes it a dead letter with reason `needs_person`.
    Handler& non_idempotent();

    [[nodiscard]] detail::RuleBook& rule_book() { return open().rules.rule_book(); }

private:
    HandlerSettings& open();

    HandlerSettings& settings_;
    const std::atomic<bool>& sealed_;
};

}  // namespace pawl
