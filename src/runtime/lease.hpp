#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pawl::runtime {

/// How long this node may believe that its claims hold, without asking: from the sending of the last heartbeat that
/// succeeded, for one expiry, by a clock that goes on while the machine is suspended.
///
/// **Threads**: safe from any thread.
class Lease {
public:
    using Span = std::chrono::nanoseconds;

    explicit Lease(Span expiry) noexcept : expiry_(expiry) {}

    /// Since boot, suspended time included.
    [[nodiscard]] static Span now() noexcept;

    void renew(Span sent) noexcept { renewed_.store(sent.count(), std::memory_order_release); }
    void end() noexcept { renewed_.store(never, std::memory_order_release); }

    [[nodiscard]] bool holds() const noexcept { return left() > Span::zero(); }
    /// How long ago the last heartbeat that succeeded was sent; the expiry once the lease was ended.
    [[nodiscard]] Span age() const noexcept { return expiry_ - left(); }
    /// Zero or less once it is over.
    [[nodiscard]] Span left() const noexcept {
        const std::int64_t renewed = renewed_.load(std::memory_order_acquire);
        return renewed == never ? Span::zero() : Span(renewed) + expiry_ - now();
    }

private:
    static constexpr std::int64_t never = -1;

    const Span expiry_;
    std::atomic<std::int64_t> renewed_{never};
};

}  // namespace pawl::runtime
