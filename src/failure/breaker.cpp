#include "failure/breaker.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <pawl/errors.hpp>
#include <pawl/failure.hpp>

#include "failure/contain.hpp"

namespace pawl::failure {
namespace {

using std::chrono::microseconds;

/// While all trials are out, another look is worth it after this part of the time that it was open.
constexpr int trial_wait_part = 10;

BreakerOptions validated(const std::string& service, BreakerOptions options) {
    const auto refuse = [&](std::string_view field, std::string_view problem) {
        throw ConfigError("circuit_breaker(" + service + ")." + std::string(field), problem);
    };
    if (options.window < 1 || options.window > 10'000) refuse("window", "must be from 1 to 10000 calls");
    if (options.minimum_calls < 1 || options.minimum_calls > options.window) {
        refuse("minimum_calls", "must be from 1 to the window");
    }
    if (!(options.failure_rate > 0 && options.failure_rate <= 1)) refuse("failure_rate", "must be above 0, up to 1");
    const Duration least = std::chrono::milliseconds(1);
    const Duration most = std::chrono::days(1);
    if (!options.open_for.valid() || options.open_for < least || options.open_for > most) {
        refuse("open_for", "must be from 1 ms to a day");
    }
    if (options.trials < 1 || options.trials > 1'000) refuse("trials", "must be from 1 to 1000");
    return options;
}

}  // namespace

Breaker::Breaker(std::string service, BreakerOptions options, Now now)
    : service_(std::move(service)), options_(validated(service_, std::move(options))), now_(std::move(now)) {}

void Breaker::on_change(OnChange call) {
    const base::MutexLock lock(mutex_);
    on_change_ = std::move(call);
}

std::variant<Breaker::Permit, Breaker::Wait> Breaker::admit() {
    const base::MutexLock lock(mutex_);
    if (state_ == BreakerState::open) {
        const microseconds rest = left();
        if (rest > microseconds::zero()) return Wait{rest};
        enter(BreakerState::half_open);
    }
    if (state_ == BreakerState::half_open) {
        if (trials_out_ + trials_good_ >= options_.trials) {
            return Wait{std::max(options_.open_for.microseconds() / trial_wait_part, microseconds(1))};
        }
        ++trials_out_;
    }
    return Permit{period_};
}

void Breaker::ended(Permit permit, CallResult result) {
    const base::MutexLock lock(mutex_);
    if (permit.period != period_) return;
    if (state_ == BreakerState::half_open) {
        --trials_out_;
        if (result == CallResult::bad) {
            enter(BreakerState::open);
        } else if (result == CallResult::good && ++trials_good_ == options_.trials) {
            enter(BreakerState::closed);
        }
        return;
    }
    if (result == CallResult::silent) return;
    remember(result == CallResult::bad);
    if (too_many_failed()) enter(BreakerState::open);
}

void Breaker::open() {
    const base::MutexLock lock(mutex_);
    enter(BreakerState::open);
}

void Breaker::close() {
    const base::MutexLock lock(mutex_);
    enter(BreakerState::closed);
}

BreakerState Breaker::state() const {
    const base::MutexLock lock(mutex_);
    return state_;
}

microseconds Breaker::remaining() const {
    const base::MutexLock lock(mutex_);
    return state_ == BreakerState::open ? left() : microseconds::zero();
}

CircuitBreaker::Calls Breaker::calls() const {
    const base::MutexLock lock(mutex_);
    return {static_cast<int>(window_.size()), bad_};
}

void Breaker::enter(BreakerState state) {
    const bool changed = state != std::exchange(state_, state);
    ++period_;
    window_.clear();
    bad_ = trials_out_ = trials_good_ = 0;
    if (state == BreakerState::open) open_until_ = now_() + options_.open_for.microseconds();
    if (changed && on_change_) on_change_(state);
}

void Breaker::remember(bool bad) {
    window_.push_back(bad);
    bad_ += bad ? 1 : 0;
    if (window_.size() <= static_cast<std::size_t>(options_.window)) return;
    bad_ -= window_.front() ? 1 : 0;
    window_.pop_front();
}

bool Breaker::too_many_failed() const {
    const auto all = static_cast<int>(window_.size());
    return all >= options_.minimum_calls && bad_ >= options_.failure_rate * all;
}

microseconds Breaker::left() const {
    // Rounded up, so that whoever waits for it does not come too early.
    return std::max(std::chrono::ceil<microseconds>(open_until_ - now_()), microseconds::zero());
}

CallResult call_result(const model::Outcome& outcome, const model::Decision& decision, const BreakerOptions& options,
                       Notes& notes) {
    if (std::holds_alternative<model::Done>(outcome.what)) return CallResult::good;
    std::shared_ptr<const Failure> failure;
    if (const auto* threw = std::get_if<model::Threw>(&outcome.what)) failure = threw->failure;
    if (const auto* timed_out = std::get_if<model::TimedOutRun>(&outcome.what)) failure = timed_out->failure;
    if (!failure || decision.verdict == model::Verdict::release) return CallResult::silent;

    std::optional<bool> speaks_against;
    if (options.counts)
        speaks_against = contained(notes, "circuit_breaker.counts", [&] { return options.counts(*failure); });
    if (!speaks_against) {
        const bool answered = decision.verdict == model::Verdict::discard || decision.reason == Reason::do_not_retry ||
                              failure->error_class() == ErrorClass::permanent;
        speaks_against = !answered;
    }
    return *speaks_against ? CallResult::bad : CallResult::good;
}

}  // namespace pawl::failure
