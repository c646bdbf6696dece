#include "worker/stop_state.hpp"

namespace pawl::worker {
namespace {

constexpr bool outdoes(StopReason reason, StopReason present) noexcept {
    if (present == StopReason::none) return reason != StopReason::none;
    const auto ends_claim = [](StopReason r) { return r == StopReason::canceled || r == StopReason::fenced; };
    return ends_claim(reason) && !ends_claim(present);
}

}  // namespace

bool StopState::request_stop(StopReason reason) noexcept {
    auto present = reason_.load(std::memory_order_acquire);
    do {
        if (!outdoes(reason, present)) return false;
        // The reason is there before the token fires: whoever sees the stop finds why.
    } while (!reason_.compare_exchange_weak(present, reason, std::memory_order_acq_rel));
    source_.request_stop();
    return true;
}

}  // namespace pawl::worker
