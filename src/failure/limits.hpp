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
/// From this many losses in company on, each is charged: a process with two schedulers in it runs no job alone, and the one
/// that takes it down must not do so for ever.
inline constexpr int most_losses = 10;

[[nodiscard]] constexpr bool sensible(Duration delay) noexcept {
    return delay.valid() && delay >= Duration() && delay <= longest_delay;
}

}  // namespace pawl::failure
