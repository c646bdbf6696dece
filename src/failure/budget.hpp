#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <pawl/retry_budget.hpp>

#include "base/mutex.hpp"
#include "model/retry_load.hpp"

namespace pawl::failure {

/// The retry budget of one kind, on a clock that is given to it.
///
/// Each retry has a turn; turns are as far apart as the budget of the last minute says, and a minute's worth of them may be taken
/// at once.
///
/// **Threads**: safe from any thread.
class Budget {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    using Now = std::function<SteadyTime()>;

    static constexpr std::chrono::minutes window{1};

    explicit Budget(const RetryBudget& options, Now now = std::chrono::steady_clock::now)
        : options_(options), now_(std::move(now)) {}

    void count_first_run() PAWL_EXCLUDES(mutex_);
    /// One more retry: how long it is from now to its turn; zero within the budget.
    [[nodiscard]] std::chrono::microseconds take_turn() PAWL_EXCLUDES(mutex_);

    /// What was counted here.
    [[nodiscard]] model::RetryLoad counted() const PAWL_EXCLUDES(mutex_);
    /// What all other nodes have counted, as they said last.
    void hear_of_others(model::RetryLoad others) PAWL_EXCLUDES(mutex_);

private:
    static constexpr std::size_t buckets = 12;
    struct Bucket {
        /// Which span of time it is of, counted from the clock's beginning.
        std::int64_t number{-1};
        model::RetryLoad load;
    };

    [[nodiscard]] model::RetryLoad sum(SteadyTime now) const PAWL_REQUIRES(mutex_);
    [[nodiscard]] model::RetryLoad& at(SteadyTime now) PAWL_REQUIRES(mutex_);

    const RetryBudget options_;
    const Now now_;
    mutable base::Mutex mutex_;
    std::array<Bucket, buckets> buckets_ PAWL_GUARDED_BY(mutex_);
    model::RetryLoad others_ PAWL_GUARDED_BY(mutex_);
    /// When the turn after the last one is.
    SteadyTime next_turn_ PAWL_GUARDED_BY(mutex_);
};

}  // namespace pawl::failure
