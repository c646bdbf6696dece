#include "runtime/lease.hpp"

#include <ctime>

namespace pawl::runtime {

Lease::Span Lease::now() noexcept {
    // CLOCK_MONOTONIC, and with it steady_clock, stands still while the machine is suspended; the database's does not.
#ifdef CLOCK_BOOTTIME
    timespec time{};
    if (clock_gettime(CLOCK_BOOTTIME, &time) == 0) {
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }
#endif
    return std::chrono::duration_cast<Span>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace pawl::runtime
