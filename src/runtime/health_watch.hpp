#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pawl/health.hpp>

#include "base/loop.hpp"
#include "base/mutex.hpp"
#include "runtime/publisher.hpp"

namespace pawl::runtime {

/// What one look finds. Loops as they stand: how often they failed in a row, and since when their step hangs.
struct Vitals {
    base::LoopVitals claim;
    base::LoopVitals settle;
    base::LoopVitals pulse;
    base::LoopVitals listen;
    /// Since the last heartbeat that succeeded was sent.
    std::chrono::nanoseconds since_heartbeat{};
    std::chrono::nanoseconds heartbeat{};
    bool fenced{};
    /// A fatal error ended the claiming.
    bool closed{};
    bool stopping{};
    /// Slots that were lost to handlers that hang.
    int lost_slots{};
    /// Handlers that still ran when stop() gave up.
    int left_running{};
    std::vector<std::string> halted_queues;
};

/// The one place that says what is well.
[[nodiscard]] Health judge(const Vitals& vitals);

/// Tells of each change of health.
///
/// **Threads**: safe from any thread.
class HealthWatch {
public:
    HealthWatch(std::function<Health()> look, std::shared_ptr<const Publisher> publisher)
        : look_(std::move(look)), publisher_(std::move(publisher)) {}

    /// Looks, and publishes `HealthChanged` when it differs from what was said last.
    void step() PAWL_EXCLUDES(mutex_);

private:
    const std::function<Health()> look_;
    const std::shared_ptr<const Publisher> publisher_;
    base::Mutex mutex_;
    std::vector<HealthReason> said_ PAWL_GUARDED_BY(mutex_);
};

}  // namespace pawl::runtime
