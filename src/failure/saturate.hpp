#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include <pawl/clock.hpp>

namespace pawl::failure {

// Arithmetic on delays that stops at the largest value where it would overflow. Operands are not negative.

[[nodiscard]] constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) noexcept {
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    return a != 0 && b > largest / a ? largest : a * b;
}

[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    return b > largest - a ? largest : a + b;
}

[[nodiscard]] inline std::int64_t saturating_scale(std::int64_t a, double factor) noexcept {
    const double product = static_cast<double>(a) * factor;
    if (!(product > 0)) return 0;
    // The largest int64 is no double; 2^63 is the nearest, and already too large.
    if (product >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(product);
}

/// A number of [0, 1), whatever the source returns.
[[nodiscard]] inline double drawn(RandomSource& random) {
    const double u = random.uniform();
    return u >= 0 ? std::min(u, std::nextafter(1.0, 0.0)) : 0.0;
}

}  // namespace pawl::failure
