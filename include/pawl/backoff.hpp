#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/detail/callable.hpp>
#include <pawl/export.hpp>

namespace pawl {

/// How a delay is spread, so that jobs that failed together do not come back together.
///
/// | law | of a delay d, with U evenly drawn | bounds |
/// |---|---|---|
/// | `none()` | d | |
/// | `full()` | U(0, d) | |
/// | `equal()` | d/2 + U(0, d/2) | |
/// | `up_to(f)` | d + U(0, f·d) | never above the cap |
/// | `scaled(low, high)` | d · U(low, high) | applied after the cap, which it may exceed by the factor `high` |
///
/// **Source**: "full" and "equal" as in AWS Architecture Blog, "Exponential Backoff And Jitter" (2015).
class PAWL_EXPORT Jitter {
public:
    enum class Law : unsigned char { none, full, equal, up_to, scaled };

    [[nodiscard]] static constexpr Jitter none() noexcept { return {Law::none, 0, 0}; }
    [[nodiscard]] static constexpr Jitter full() noexcept { return {Law::full, 0, 1}; }
    [[nodiscard]] static constexpr Jitter equal() noexcept { return {Law::equal, 0.5, 1}; }
    /// **Throws** `ConfigError` unless 0 ≤ fraction ≤ 1.
    [[nodiscard]] static Jitter up_to(double fraction);
    /// **Throws** `ConfigError` unless 0 ≤ low ≤ high ≤ 100.
    [[nodiscard]] static Jitter scaled(double low, double high);

    [[nodiscard]] constexpr Law law() const noexcept { return law_; }
    /// The factors of the table: for `up_to` 0 and f, for `scaled` low and high.
    [[nodiscard]] constexpr double low() const noexcept { return low_; }
    [[nodiscard]] constexpr double high() const noexcept { return high_; }

    friend constexpr bool operator==(const Jitter&, const Jitter&) noexcept = default;

private:
    constexpr Jitter(Law law, double low, double high) noexcept : law_(law), low_(low), high_(high) {}

    Law law_;
    double low_;
    double high_;
};

/// How long a job waits before its n-th retry, n counting from 1.
///
/// All laws saturate: for every n up to the largest int the delay is at least zero and, jitter included, at most the cap
/// (`Jitter::scaled` alone may exceed it). Without jitter, `none`, `fixed`, `exponential` and `polynomial` never shrink as
/// n grows. Default constructed it is what jobs have when nothing is said: exponential from 1 s, capped at 10 min, equal
/// jitter. Converts from a duration, as `fixed`.
///
/// **Threads**: a value; const members are safe concurrently.
class PAWL_EXPORT Backoff {
public:
    enum class Law : unsigned char { none, fixed, exponential, polynomial, list, custom };
    /// A user's law: the number of the retry to its delay.
    using Function = detail::Callable<Duration(int)>;

    Backoff();
    template <class Rep, class Period>
    Backoff(std::chrono::duration<Rep, Period> wait) : Backoff(fixed(wait)) {}  // NOLINT(google-explicit-constructor)
    Backoff(Duration wait) : Backoff(fixed(wait)) {}                            // NOLINT(google-explicit-constructor)

    /// At once, always.
    [[nodiscard]] static Backoff none();
    /// The same each time; no jitter unless asked for. **Throws** `ConfigError` for a negative or invalid duration, as all
    /// below do.
    [[nodiscard]] static Backoff fixed(Duration wait);
    /// first · 2^(n−1), with equal jitter unless another is asked for.
    [[nodiscard]] static Backoff exponential(Duration first = std::chrono::seconds(1));
    /// n⁴ + 2 seconds: 3 s, 18 s, 83 s, … Jitter acts on n⁴ alone, and is up to 15 % unless another is asked for.
    [[nodiscard]] static Backoff polynomial();
    /// The n-th of these; the last one repeats. Empty means at once. No jitter unless asked for.
    [[nodiscard]] static Backoff list(std::vector<Duration> waits);
    /// What the function returns. It can be a scheduler's default but not be stored with a job. No jitter unless asked for.
    [[nodiscard]] static Backoff custom(Function function);

    /// The longest delay; 24 h unless said. Zero makes every retry immediate.
    [[nodiscard]] Backoff capped(Duration cap) const;
    [[nodiscard]] Backoff jittered(Jitter jitter) const;

    struct Draw {
        Duration delay;
        /// What jitter added to the delay; negative where it shortened it.
        Duration jitter;
    };
    /// The delay before the n-th retry; an n below 1 counts as 1.
    ///
    /// **Throws** what a custom function throws, and `ConfigError` when that returns a negative or invalid duration.
    [[nodiscard]] Draw draw(int n, RandomSource& random) const;
    [[nodiscard]] Duration delay(int n, RandomSource& random) const { return draw(n, random).delay; }

    [[nodiscard]] Law law() const noexcept { return law_; }
    /// For `fixed` and `exponential` one, for `list` all; otherwise none.
    [[nodiscard]] const std::vector<Duration>& waits() const noexcept { return waits_; }
    [[nodiscard]] Duration cap() const noexcept { return cap_; }
    [[nodiscard]] Jitter jitter() const noexcept { return jitter_; }

private:
    Backoff(Law law, std::vector<Duration> waits, Jitter jitter, Function function = {});
    [[nodiscard]] std::chrono::microseconds unjittered(int n) const;

    Law law_;
    std::vector<Duration> waits_;
    Duration cap_ = std::chrono::hours(24);
    Jitter jitter_;
    Function function_;
};

}  // namespace pawl
