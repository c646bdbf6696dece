#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include <pawl/errors.hpp>
#include <pawl/failure.hpp>
#include <pawl/retry_policies.hpp>

#include "base/mutex.hpp"
#include "base/system_sources.hpp"
#include "failure/limits.hpp"

namespace pawl {
namespace {

using std::chrono::microseconds;
using SteadyTime = std::chrono::steady_clock::time_point;

std::shared_ptr<const RetryPolicy> or_default(std::shared_ptr<const RetryPolicy> policy) {
    return policy ? std::move(policy) : std::make_shared<const DefaultRetryPolicy>();
}

void require(bool right, std::string_view field, std::string_view problem) {
    if (!right) throw ConfigError(field, problem);
}

Backoff backoff_of(const ExponentialRetryPolicy::Settings& settings) {
    require(settings.max_retries >= 0, "max_retries", "must be 0 or more");
    require(settings.first > Duration() && failure::sensible(settings.first), "first",
            "must be above zero, up to 366 days");
    require(settings.cap >= settings.first && failure::sensible(settings.cap), "cap",
            "must be from `first` to 366 days");
    return Backoff::exponential(settings.first).capped(settings.cap).jittered(settings.jitter);
}

}  // namespace

ExponentialRetryPolicy::ExponentialRetryPolicy(Settings settings)
    : max_retries_(settings.max_retries),
      backoff_(backoff_of(settings)),
      random_(settings.random ? std::move(settings.random) : base::system_random()) {}

bool ExponentialRetryPolicy::should_retry(int attempt, const Failure&) const { return attempt <= max_retries_; }

Duration ExponentialRetryPolicy::delay(int attempt, const Failure&) const {
    // Zero would leave it to the job's backoff.
    return std::max(backoff_.delay(attempt, *random_), Duration(microseconds(1)));
}

RoutingRetryPolicy::RoutingRetryPolicy(std::shared_ptr<const RetryPolicy> others)
    : others_(or_default(std::move(others))) {}

void RoutingRetryPolicy::add(detail::TypeMatch type, std::shared_ptr<const RetryPolicy> policy) {
    require(policy != nullptr, "route", "needs a policy");
    routes_.push_back({std::move(type), std::move(policy)});
}

const RetryPolicy& RoutingRetryPolicy::policy_for(const Failure& failure) const {
    const auto found = std::find_if(routes_.begin(), routes_.end(),
                                    [&](const Route& route) { return route.type.catches(failure.exception()); });
    return found == routes_.end() ? *others_ : *found->policy;
}

bool RoutingRetryPolicy::should_retry(int attempt, const Failure& failure) const {
    return policy_for(failure).should_retry(attempt, failure);
}

Duration RoutingRetryPolicy::delay(int attempt, const Failure& failure) const {
    return policy_for(failure).delay(attempt, failure);
}

/// How many retries are due in each window, the present one and later ones.
struct RateLimitedRetryPolicy::Windows {
    explicit Windows(Settings settings)
        : most(settings.retries), width(settings.window.microseconds()), now(std::move(settings.now)) {
        require(most >= 1 && most <= 1'000'000, "retries", "must be from 1 to 1000000");
        require(settings.window.valid() && width >= std::chrono::milliseconds(1) && width <= std::chrono::days(1),
                "window", "must be from 1 ms to a day");
        if (!now) now = [] { return std::chrono::steady_clock::now(); };
    }

    /// Takes a place in the first window with room, not before the delay is over, and returns the wait until then.
    microseconds take_later(microseconds delay) {
        const base::MutexLock lock(mutex);
        const microseconds since = std::chrono::floor<microseconds>(now().time_since_epoch());
        forget_before(since / width);
        const std::int64_t wanted = (since + delay) / width;
        std::int64_t window = wanted;
        for (auto at = taken.lower_bound(wanted); at != taken.end() && at->first == window && at->second >= most;
             ++at) {
            ++window;
        }
        ++taken[window];
        return window == wanted ? delay : window * width - since;
    }

    /// Takes a place in the present window; false when it is full.
    bool take_now() {
        const base::MutexLock lock(mutex);
        const std::int64_t window = std::chrono::floor<microseconds>(now().time_since_epoch()) / width;
        forget_before(window);
        int& count = taken[window];
        return count < most && ++count > 0;
    }

    void forget_before(std::int64_t window) PAWL_REQUIRES(mutex) {
        taken.erase(taken.begin(), taken.lower_bound(window));
    }

    const int most;
    const microseconds width;
    SteadyNow now;
    base::Mutex mutex;
    std::map<std::int64_t, int> taken PAWL_GUARDED_BY(mutex);
};

RateLimitedRetryPolicy::RateLimitedRetryPolicy(Settings settings, std::shared_ptr<const RetryPolicy> inner)
    : above_(settings.above),
      inner_(or_default(std::move(inner))),
      windows_(std::make_unique<Windows>(std::move(settings))) {}

RateLimitedRetryPolicy::~RateLimitedRetryPolicy() = default;

bool RateLimitedRetryPolicy::should_retry(int attempt, const Failure& failure) const {
    if (!inner_->should_retry(attempt, failure)) return false;
    return above_ == AboveRate::wait || windows_->take_now();
}

Duration RateLimitedRetryPolicy::delay(int attempt, const Failure& failure) const {
    const Duration wanted = inner_->delay(attempt, failure);
    if (above_ == AboveRate::give_up || !failure::sensible(wanted)) return wanted;
    return windows_->take_later(wanted.microseconds());
}

BreakerAwareRetryPolicy::BreakerAwareRetryPolicy(CircuitBreaker breaker, std::shared_ptr<const RetryPolicy> inner)
    : breaker_(std::move(breaker)), inner_(or_default(std::move(inner))) {}

bool BreakerAwareRetryPolicy::should_retry(int attempt, const Failure& failure) const {
    return inner_->should_retry(attempt, failure);
}

Duration BreakerAwareRetryPolicy::delay(int attempt, const Failure& failure) const {
    const Duration wanted = inner_->delay(attempt, failure);
    return failure::sensible(wanted) ? std::max(wanted, Duration(breaker_.remaining())) : wanted;
}

}  // namespace pawl
