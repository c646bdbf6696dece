#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <pawl/clock.hpp>
#include <pawl/detail/callable.hpp>
#include <pawl/export.hpp>
#include <pawl/fwd.hpp>

namespace pawl {

namespace failure {
class Breaker;
}

/// How a circuit breaker judges its service.
struct BreakerOptions {
    /// The last calls that are looked at. From 1 to 10,000. Default 100. Many forget slowly, and are slow to notice.
    int window{100};
    /// Fewer calls than this are no ground to open. From 1 to `window`. Default 5.
    int minimum_calls{5};
    /// Opens when this part of them failed. Above 0, up to 1. Default 0.5.
    double failure_rate{0.5};
    /// How long no job runs once it is open. From 1 ms to a day. Default 30 s.
    Duration open_for{std::chrono::seconds(30)};
    /// The runs that are let through after that, to see whether the service is back: all good close it, one bad one opens it
    /// anew. From 1 to 1,000. Default 3.
    int trials{3};
    /// Whether an error or a time-out speaks against the service. None, the default: all but permanent errors and those
    /// that a `discard_on` names, for with these the service did answer. One that throws is contained, and the default
    /// speaks. Called concurrently from worker threads.
    detail::Callable<bool(const Failure&)> counts{};

    /// For services that are back within seconds: the last 20 calls, at least 3, open 5 s, 1 trial.
    [[nodiscard]] static BreakerOptions quick() { return {20, 3, 0.5, std::chrono::seconds(5), 1, {}}; }
    /// For services that fail now and then, and rest long when they are down: the last 500 calls, at least 20, three
    /// quarters of them failed, open 2 min, 5 trials.
    [[nodiscard]] static BreakerOptions patient() { return {500, 20, 0.75, std::chrono::minutes(2), 5, {}}; }
};

enum class BreakerState : std::uint8_t {
    closed,     ///< runs go through
    open,       ///< no run goes through
    half_open,  ///< only the trials go through
};

[[nodiscard]] PAWL_EXPORT std::string_view to_string(BreakerState state) noexcept;

/// Keeps jobs from a service that is down. Jobs of the kinds that are bound to it (`Handler::with_circuit_breaker`) are
/// put back while it is open: not run, not counted, and due again when it may be tried.
///
/// It belongs to one scheduler, and knows only what ran there. Events `BreakerOpened`, `BreakerHalfOpen` and
/// `BreakerClosed` tell of its changes once that scheduler runs.
///
///     auto gateway = scheduler.circuit_breaker({"payment-gateway", {.open_for = 1min}});
///     scheduler.on<ChargeCard>(charge).with_circuit_breaker("payment-gateway");
///
/// **Threads**: safe from any thread.
/// **Lifetime**: copies share one breaker, and may outlive the scheduler.
class PAWL_EXPORT CircuitBreaker {
public:
    /// Runs since the window was last emptied by a change of state, as far as it reaches back.
    struct Calls {
        int all{};
        int failed{};
    };

    /// Closed, and of no scheduler yet. Names have 1 to 200 bytes of UTF-8 without control characters.
    ///
    /// **Throws** `ConfigError` naming the field, for a name that cannot be stored and options out of range.
    explicit CircuitBreaker(std::string service, BreakerOptions options = {});
    /// For the library.
    explicit CircuitBreaker(std::shared_ptr<failure::Breaker> breaker) noexcept : breaker_(std::move(breaker)) {}

    [[nodiscard]] const std::string& service() const noexcept;
    [[nodiscard]] BreakerState state() const;
    /// How long it stays open; zero when it is not.
    [[nodiscard]] std::chrono::microseconds remaining() const;
    [[nodiscard]] Calls calls() const;

    /// Opens it by hand, for its usual time or anew from now on.
    void open();
    /// Closes it by hand, with an empty window.
    void close();

private:
    friend class Scheduler;

    std::shared_ptr<failure::Breaker> breaker_;
};

}  // namespace pawl
