#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace pawl {

/// A point in time in UTC with PostgreSQL's precision.
using Time = std::chrono::sys_time<std::chrono::microseconds>;

/// A span of time, taken from any `std::chrono::duration`, in whole microseconds.
///
/// Conversion is implicit, because durations are written in place (`30s`, `1.5min`), and saturates: a value beyond
/// about 292,000 years is the longest one. A fraction of a microsecond is rounded up, so that a wait is never shorter
/// than asked. What was not a number stays recognisable (`valid()` is false), so that the field that got it can be
/// named in an error.
///
/// **Threads**: a value; const members are safe concurrently.
class Duration {
public:
    constexpr Duration() noexcept = default;

    template <class Rep, class Period>
    constexpr Duration(std::chrono::duration<Rep, Period> span) noexcept  // NOLINT(google-explicit-constructor)
        : Duration(from(span)) {}

    /// False when it was made of a floating-point value that is not a number. Its length is then zero.
    [[nodiscard]] constexpr bool valid() const noexcept { return valid_; }
    [[nodiscard]] constexpr std::chrono::microseconds microseconds() const noexcept { return length_; }
    [[nodiscard]] constexpr std::int64_t count() const noexcept { return length_.count(); }

    [[nodiscard]] static constexpr Duration max() noexcept { return Duration(std::chrono::microseconds::max(), true); }

    friend constexpr bool operator==(const Duration&, const Duration&) noexcept = default;
    friend constexpr auto operator<=>(const Duration& a, const Duration& b) noexcept { return a.length_ <=> b.length_; }

private:
    constexpr Duration(std::chrono::microseconds length, bool valid) noexcept : length_(length), valid_(valid) {}

    template <class Rep, class Period>
    static constexpr Duration from(std::chrono::duration<Rep, Period> span) noexcept {
        using Wide = std::chrono::duration<long double, std::micro>;
        if constexpr (std::is_floating_point_v<Rep>) {
            if (span.count() != span.count()) return {std::chrono::microseconds::zero(), false};
        }
        const long double wanted = Wide(span).count();
        if (wanted >= static_cast<long double>(std::chrono::microseconds::max().count())) return max();
        if (wanted <= static_cast<long double>(std::chrono::microseconds::min().count())) {
            return {std::chrono::microseconds::min(), true};
        }
        auto whole = static_cast<std::int64_t>(wanted);
        if (static_cast<long double>(whole) < wanted) ++whole;
        return {std::chrono::microseconds(whole), true};
    }

    std::chrono::microseconds length_{};
    bool valid_ = true;
};

/// For a time limit: none at all, on purpose.
inline constexpr Duration no_timeout = Duration::max();

/// The host's wall clock, for what is shown to people: event times and log lines.
///
/// It decides nothing: due times and leases are the database's clock plus an interval, and waits use the steady clock.
///
/// **Threads**: called concurrently from all of a scheduler's threads.
class Clock {
public:
    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    virtual ~Clock() = default;

    [[nodiscard]] virtual Time now() const = 0;
};

/// Where jitter comes from.
///
/// **Threads**: called concurrently from worker threads.
class RandomSource {
public:
    RandomSource() = default;
    RandomSource(const RandomSource&) = delete;
    RandomSource& operator=(const RandomSource&) = delete;
    virtual ~RandomSource() = default;

    /// Evenly spread over [0, 1).
    virtual double uniform() = 0;
};

}  // namespace pawl
