#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <pawl/pawl.hpp>

// What every example needs, and none is about.

namespace example {

/// The database that the scripts start. Without them: what libpq's environment variables say.
inline std::string dsn() {
    const char* const given = std::getenv("PAWL_DSN");
    return given != nullptr ? given : "";
}

/// Takes the log lines and shows none: these examples say themselves what happens.
inline std::shared_ptr<spdlog::logger> no_log() { return std::make_shared<spdlog::logger>("example"); }

/// Ends the example as failed when something is not as its text says.
inline void expect(bool holds, std::string_view what) {
    if (!holds) throw std::logic_error("not as expected: " + std::string(what));
}

/// Waits for jobs to end, by the events that tell so.
class Endings {
public:
    explicit Endings(pawl::Scheduler& scheduler)
        : succeeded_(scheduler.on_event<pawl::JobSucceeded>([this](const auto& event) { add(event.id); })),
          failed_(scheduler.on_event<pawl::JobFailed>([this](const auto& event) { add(event.id); })),
          canceled_(scheduler.on_event<pawl::JobCanceled>([this](const auto& event) { add(event.id); })) {}

    void wait_for(std::initializer_list<pawl::JobId> jobs) {
        std::unique_lock lock(mutex_);
        const bool ended = changed_.wait_for(lock, std::chrono::seconds(20), [&] {
            for (const pawl::JobId job : jobs) {
                if (!ended_.contains(job)) return false;
            }
            return true;
        });
        expect(ended, "every job ends within 20 seconds");
    }

private:
    void add(pawl::JobId job) {
        const std::lock_guard lock(mutex_);
        ended_.insert(job);
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<pawl::JobId> ended_;
    // Last, so that they end first.
    pawl::Subscription succeeded_;
    pawl::Subscription failed_;
    pawl::Subscription canceled_;
};

/// Runs an example: 0 when all was as it should be.
template <class Body>
int run(Body body) {
    try {
        body();
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}

}  // namespace example
