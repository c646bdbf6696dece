#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace pawl::tests {

/// A child process that runs a scheduler: tests/system/worker_main.cpp. Killed with this object, or with this process.
///
/// **Threads**: confined to one thread.
class Worker {
public:
    Worker(const std::string& dsn, const std::string& schema, const std::vector<std::string>& arguments = {});
    Worker(Worker&&) noexcept;
    Worker& operator=(Worker&&) = delete;
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// The next line that it says; empty at its end, or when there is none within twenty seconds.
    [[nodiscard]] std::string line();
    /// Reads on until it says this; false at its end.
    [[nodiscard]] bool says(std::string_view wanted);
    /// What a handler of it that holds waits for.
    void let_go();
    void signal(int number) const;
    /// Its exit status, or minus the signal that ended it, once it has ended.
    [[nodiscard]] std::optional<int> ended();
    /// Until it has ended: its exit status, or minus the signal that ended it.
    int wait();

private:
    pid_t pid_ = -1;
    int in_ = -1;
    int out_ = -1;
    std::string heard_;
};

}  // namespace pawl::tests
