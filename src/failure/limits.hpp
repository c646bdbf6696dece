#pragma once

#include <chrono>

#include <pawl/clock.hpp>

namespace pawl::failure {

/// A longer delay than this is taken for a mistake.
inline constexpr Duration longest_delay = std::chrono::days(366);
/// What RetryAfter is bounded by.
inline constexpr Duration longest_retry_after = std::chrono::hours(24);
/// Payloads that cannot be decoded: another release may do it, which takes a while to arrive.
inline constexpr Duration shortest_payload_delay = std::chrono::minutes(1);
inline constexpr int most_payload_attempts = 5;

[[nodiscard]] constexpr bool sensible(Duration delay) noexcept {
    return delay.valid() && delay >= Duration() && delay <= longest_delay;
}

}  // namespace pawl::failure
