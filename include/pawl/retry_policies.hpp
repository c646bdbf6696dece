#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <pawl/backoff.hpp>
#include <pawl/circuit_breaker.hpp>
#include <pawl/clock.hpp>
#include <pawl/detail/callable.hpp>
#include <pawl/detail/type_match.hpp>
#include <pawl/export.hpp>
#include <pawl/retry_policy.hpp>

// Policies that are ready to use as `Options::retry_policy`, and to be put into one another. Each asks another one where it
// says so; none given there is DefaultRetryPolicy, which leaves all to the job.

namespace pawl {

/// The time that a policy counts by; none: the steady clock. For tests.
using SteadyNow = detail::Callable<std::chrono::steady_clock::time_point()>;

/// Retries up to a number of times, with exponentially growing, jittered waits.
///
/// **Threads**: called concurrently from worker threads.
class PAWL_EXPORT ExponentialRetryPolicy final : public RetryPolicy {
public:
    struct Settings {
        /// Retries after the first run. From 0. Default 4. A job's own limit bounds it as well.
        int max_retries{4};
        /// The wait before the first retry; it doubles from there. Above zero. Default 1 s.
        Duration first{std::chrono::seconds(1)};
        /// The longest wait. At least `first`. Default 10 min.
        Duration cap{std::chrono::minutes(10)};
        Jitter jitter{Jitter::equal()};
        /// None: a generator of its own, seeded by the system.
        std::shared_ptr<RandomSource> random{};
    };

    /// **Throws** `ConfigError` naming the field.
    explicit ExponentialRetryPolicy(Settings settings);

    [[nodiscard]] bool should_retry(int attempt, const Failure& failure) const override;
    [[nodiscard]] Duration delay(int attempt, const Failure& failure) const override;

private:
    int max_retries_;
    Backoff backoff_;
    std::shared_ptr<RandomSource> random_;
};

/// Asks another policy for each type of error: the first whose type would catch it, else the one for all others.
///
///     auto policy = std::make_shared<pawl::RoutingRetryPolicy>(usual);
///     policy->route<GatewayBusy, GatewayTimeout>(slow).route<CacheMiss>(quick);
///
/// **Threads**: routes are set on one thread, before a scheduler has it; then called concurrently from worker threads.
class PAWL_EXPORT RoutingRetryPolicy final : public RetryPolicy {
public:
    explicit RoutingRetryPolicy(std::shared_ptr<const RetryPolicy> others = nullptr);

    /// **Throws** `ConfigError` for a policy that is null.
    template <class... E>
    RoutingRetryPolicy& route(const std::shared_ptr<const RetryPolicy>& policy) {
        static_assert(sizeof...(E) > 0, "pawl: route needs at least one type, as in route<Busy, Timeout>(policy)");
        (add(detail::type_match<E>(), policy), ...);
        return *this;
    }

    [[nodiscard]] bool should_retry(int attempt, const Failure& failure) const override;
    [[nodiscard]] Duration delay(int attempt, const Failure& failure) const override;

private:
    struct Route {
        detail::TypeMatch type;
        std::shared_ptr<const RetryPolicy> policy;
    };

    void add(detail::TypeMatch type, std::shared_ptr<const RetryPolicy> policy);
    [[nodiscard]] const RetryPolicy& policy_for(const Failure& failure) const;

    std::vector<Route> routes_;
    std::shared_ptr<const RetryPolicy> others_;
};

/// What a RateLimitedRetryPolicy does with a retry above the rate.
enum class AboveRate : std::uint8_t {
    wait,     ///< it waits into the first window that has room
    give_up,  ///< the job is a dead letter, with reason `policy`
};

/// Lets only so many retries per window begin, over all jobs that it is asked about: those of the schedulers of this
/// process that share it. Retries count in the window in which they are due, so that delayed ones do not meet.
///
/// **Threads**: called concurrently from worker threads.
class PAWL_EXPORT RateLimitedRetryPolicy final : public RetryPolicy {
public:
    struct Settings {
        /// From 1 to 1,000,000. Default 100.
        int retries{100};
        /// From 1 ms to a day. Default 1 s.
        Duration window{std::chrono::seconds(1)};
        AboveRate above{AboveRate::wait};
        SteadyNow now{};
    };

    /// `inner` says whether and when to retry, before the rate has its say. A delay of zero from it counts as due now.
    ///
    /// **Throws** `ConfigError` naming the field.
    explicit RateLimitedRetryPolicy(Settings settings, std::shared_ptr<const RetryPolicy> inner = nullptr);
    ~RateLimitedRetryPolicy() override;

    [[nodiscard]] bool should_retry(int attempt, const Failure& failure) const override;
    [[nodiscard]] Duration delay(int attempt, const Failure& failure) const override;

private:
    struct Windows;

    AboveRate above_;
    std::shared_ptr<const RetryPolicy> inner_;
    std::unique_ptr<Windows> windows_;
};

/// Retries no earlier than a circuit breaker may let the job through.
///
/// **Threads**: called concurrently from worker threads.
class PAWL_EXPORT BreakerAwareRetryPolicy final : public RetryPolicy {
public:
    explicit BreakerAwareRetryPolicy(CircuitBreaker breaker, std::shared_ptr<const RetryPolicy> inner = nullptr);

    [[nodiscard]] bool should_retry(int attempt, const Failure& failure) const override;
    /// The inner policy's, or what the breaker still stays open when that is longer.
    [[nodiscard]] Duration delay(int attempt, const Failure& failure) const override;

private:
    CircuitBreaker breaker_;
    std::shared_ptr<const RetryPolicy> inner_;
};

}  // namespace pawl
