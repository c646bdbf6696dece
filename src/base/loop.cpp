#include "base/loop.hpp"

#include <algorithm>
#include <utility>

namespace pawl::base {

FailureWait::Length FailureWait::next(double uniform) noexcept {
    // Doubling 62 times is more than any cap, and stays clear of an overflow.
    constexpr int most_doublings = 62;
    auto step = std::min(first_, cap_);
    for (int i = 0; i < failures_ && step < cap_; ++i) step = step > cap_ / 2 ? cap_ : step * 2;
    failures_ = std::min(failures_ + 1, most_doublings);
    const auto half = static_cast<double>(step.count()) / 2;
    return Length(static_cast<Length::rep>(half + half * std::clamp(uniform, 0.0, 1.0)));
}

Loop::Loop(LoopOptions options, Step step, const Log& log, RandomSource& random)
    : options_(std::move(options)), step_(std::move(step)), log_(log), random_(random) {}

Loop::~Loop() { stop(); }

void Loop::start() {
    const MutexLock lock{thread_mutex_};
    if (thread_.joinable() || stop_.stop_requested()) return;
    thread_ = Thread{options_.name, [this] { run(); }};
}

void Loop::poke() noexcept {
    const MutexLock lock{mutex_};
    if (std::exchange(poked_, true)) return;
    changed_.notify_all();
}

void Loop::request_stop() noexcept { stop_.request_stop(); }

void Loop::stop() noexcept {
    request_stop();
    if (thread_id_.load() == std::this_thread::get_id()) return;
    const MutexLock lock{thread_mutex_};
    thread_.join();
    const MutexLock state{mutex_};
    stopped_ = true;
    changed_.notify_all();
}

bool Loop::run_step(std::chrono::nanoseconds bound) {
    const auto until = std::chrono::steady_clock::now() + bound;
    const MutexLock lock{mutex_};
    const auto wanted = begun_ + 1;
    poked_ = true;
    changed_.notify_all();
    while (ended_ < wanted && !stopped_) {
        if (!changed_.wait_until(mutex_, until) && ended_ < wanted) return false;
    }
    return ended_ >= wanted;
}

LoopVitals Loop::vitals() const {
    const MutexLock lock{mutex_};
    LoopVitals vitals{.failures = failures_, .last_failure = {}, .cause = {}, .in_step_for = {}};
    if (failures_ > 0) {
        vitals.last_failure = last_failure_.text;
        vitals.cause = last_failure_.cause;
    }
    if (ended_ < begun_ && !stopped_) vitals.in_step_for = std::chrono::steady_clock::now() - begun_at_;
    return vitals;
}

void Loop::run() noexcept {
    thread_id_ = std::this_thread::get_id();
    const auto stop = stop_.get_token();
    FailureWait failure_wait{options_.first_failure_wait, options_.failure_wait_cap};
    while (!stop.stop_requested()) {
        {
            const MutexLock lock{mutex_};
            poked_ = false;
            ++begun_;
            begun_at_ = std::chrono::steady_clock::now();
        }
        const auto wait = take_step(failure_wait);
        rest(wait, failures() > 0);
    }
    const MutexLock lock{mutex_};
    stopped_ = true;
    changed_.notify_all();
}

Loop::Wait Loop::take_step(FailureWait& failure_wait) noexcept {
    std::exception_ptr thrown;
    try {
        const auto wait = step_(stop_.get_token());
        failure_wait.reset();
        const MutexLock lock{mutex_};
        failures_ = 0;
        return wait;
    } catch (...) {
        thrown = std::current_exception();
    }
    double jitter = 0.5;
    FailedStep failed;
    try {
        jitter = random_.uniform();
        if (options_.on_failure) failed = options_.on_failure(thrown);
    } catch (...) {
        failed.text = "what it threw could not be described";
    }
    const auto wait = failure_wait.next(jitter);
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
    log_.warn("{} failed, again in {} ms: {}", options_.name, milliseconds, failed.text);
    const MutexLock lock{mutex_};
    ++failures_;
    last_failure_ = std::move(failed);
    return wait;
}

void Loop::rest(Wait wait, bool failed) {
    using Clock = std::chrono::steady_clock;
    const auto stop = stop_.get_token();
    const auto now = Clock::now();
    const auto until = wait > Clock::time_point::max() - now ? Clock::time_point::max() : now + wait;
    const MutexLock lock{mutex_};
    ended_ = begun_;
    changed_.notify_all();
    while (!stop.stop_requested() && (failed || !poked_)) {
        if (!changed_.wait_until(mutex_, stop, until)) return;
    }
}

}  // namespace pawl::base
