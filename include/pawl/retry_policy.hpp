#pragma once

#include <optional>
#include <vector>

#include <pawl/backoff.hpp>
#include <pawl/clock.hpp>
#include <pawl/detail/callable.hpp>
#include <pawl/export.hpp>
#include <pawl/failure.hpp>

namespace pawl {

/// A scheduler's say about every counted failure that no rule, mark or plan has settled before it.
///
/// A policy that throws, or returns a negative, invalid or absurd delay (above a year), is contained: the job's own limit
/// and backoff are used, and an event `MisbehavingPolicy` tells of it.
///
/// **Threads**: called concurrently from worker threads.
class PAWL_EXPORT RetryPolicy {
public:
    RetryPolicy() = default;
    RetryPolicy(const RetryPolicy&) = delete;
    RetryPolicy& operator=(const RetryPolicy&) = delete;
    virtual ~RetryPolicy();

    /// Whether the job may be tried again, its own limit permitting. `attempt` counts the run that just failed: 1 is the
    /// first. False makes it a dead letter with reason `policy`.
    [[nodiscard]] virtual bool should_retry(int attempt, const Failure& failure) const = 0;

    /// How long to wait before the next run; zero leaves it to the job's backoff.
    [[nodiscard]] virtual Duration delay(int attempt, const Failure& failure) const = 0;
};

/// Says yes and zero: it leaves everything to the job.
class PAWL_EXPORT DefaultRetryPolicy final : public RetryPolicy {
public:
    [[nodiscard]] bool should_retry(int attempt, const Failure& failure) const override;
    [[nodiscard]] Duration delay(int attempt, const Failure& failure) const override;
};

/// What a strategy function of a kind answers: how often to retry in all, and how long to wait each time.
struct RetryPlan {
    /// Retries in all; the job runs at most once more than this. Zero: this failure is the last.
    int retries{};
    /// The n-th before the n-th retry; the last one repeats, more than `retries` are ignored, none means at once.
    std::vector<Duration> delays{};
};

/// Asked afresh on each failure of its kind, nothing of it being stored: a plan that shrinks ends the job at once, one that
/// grows extends it. No plan means no retry.
using RetryStrategy = detail::Callable<std::optional<RetryPlan>(const Failure&)>;

}  // namespace pawl
