#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include <pawl/pawl.hpp>

#include "shop.hpp"

namespace shop {

/// Tells what happens, a line per event, and waits until nothing is left to happen.
class Narrator {
public:
    Narrator(pawl::Scheduler& scheduler, const Shop& shop);

    /// Returns once so many jobs have ended; false after 12 seconds.
    [[nodiscard]] bool wait_for_endings(int jobs);

private:
    void tell(const pawl::JobEvent& event, const std::string& what);
    void ended(const pawl::JobEvent& event, const std::string& what);

    const Shop& shop_;
    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable changed_;
    int ended_ = 0;
    // Last, so that they end first.
    pawl::Subscription succeeded_;
    pawl::Subscription retrying_;
    pawl::Subscription dead_;
};

/// Prints the orders, the jobs and the dead letters of this run, as the database has them.
void print_tables(const std::string& dsn, const Shop& shop);

}  // namespace shop
