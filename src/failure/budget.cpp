#include "failure/budget.hpp"

#include <algorithm>

namespace pawl::failure {
namespace {

constexpr std::chrono::seconds bucket_span{5};

std::int64_t number_of(Budget::SteadyTime now) { return now.time_since_epoch() / bucket_span; }

}  // namespace

void Budget::count_first_run() {
    const base::MutexLock lock(mutex_);
    ++at(now_()).first_runs;
}

std::chrono::microseconds Budget::take_turn() {
    const base::MutexLock lock(mutex_);
    const SteadyTime now = now_();
    ++at(now).retries;
    const model::RetryLoad own = sum(now);
    const double first_runs = static_cast<double>(own.first_runs + others_.first_runs);
    const double share = static_cast<double>(own.retries) / static_cast<double>(own.retries + others_.retries);
    const double allowed = std::max(options_.ratio * first_runs, static_cast<double>(options_.at_least)) * share;
    const std::chrono::duration<double, std::nano> apart = window / allowed;

    const SteadyTime longest = now + options_.longest_delay.microseconds();
    const SteadyTime turn = std::max(next_turn_, now - window);
    next_turn_ =
        std::min(longest, turn + std::chrono::duration_cast<SteadyTime::duration>(
                                     std::min<std::chrono::duration<double, std::nano>>(apart, longest - now)));
    return std::chrono::duration_cast<std::chrono::microseconds>(
        std::max(next_turn_ - now, SteadyTime::duration::zero()));
}

model::RetryLoad Budget::counted() const {
    const base::MutexLock lock(mutex_);
    return sum(now_());
}

void Budget::hear_of_others(model::RetryLoad others) {
    const base::MutexLock lock(mutex_);
    others_ = others;
}

model::RetryLoad Budget::sum(SteadyTime now) const {
    const std::int64_t current = number_of(now);
    model::RetryLoad sum;
    for (const Bucket& bucket : buckets_) {
        if (bucket.number <= current - static_cast<std::int64_t>(buckets)) continue;
        sum.first_runs += bucket.load.first_runs;
        sum.retries += bucket.load.retries;
    }
    return sum;
}

model::RetryLoad& Budget::at(SteadyTime now) {
    const std::int64_t number = number_of(now);
    Bucket& bucket = buckets_[static_cast<std::size_t>(number) % buckets];
    if (bucket.number != number) bucket = {.number = number, .load = {}};
    return bucket.load;
}

}  // namespace pawl::failure
