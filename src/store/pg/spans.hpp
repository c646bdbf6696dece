#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include <pawl/clock.hpp>

namespace pawl::store::pg {

/// The longest span that is written: a thousand years. PostgreSQL's timestamps end long before C++'s microseconds do, and
/// nobody can tell a job that waits for a millennium from one that waits for ever.
constexpr std::chrono::microseconds longest_span = std::chrono::years{1000};

/// Microseconds that PostgreSQL can add to its clock.
[[nodiscard]] constexpr std::int64_t storable_span(std::chrono::microseconds span) noexcept {
    return std::clamp(span, std::chrono::microseconds::zero(), longest_span).count();
}

/// Microseconds since 1970 that are a timestamp for PostgreSQL.
[[nodiscard]] constexpr std::int64_t storable_time(Time time) noexcept {
    constexpr std::chrono::microseconds farthest = std::chrono::years{10'000};
    return std::clamp(time.time_since_epoch(), std::chrono::microseconds::zero(), farthest).count();
}

[[nodiscard]] constexpr std::optional<std::int64_t> time_or_null(const std::optional<Time>& time) noexcept {
    return time ? std::optional(storable_time(*time)) : std::nullopt;
}

}  // namespace pawl::store::pg
