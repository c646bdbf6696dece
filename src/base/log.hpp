#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <pawl/fwd.hpp>
#include <pawl/job.hpp>

namespace pawl::base {

enum class LogLevel : unsigned char { debug, info, warn, error };

/// The job that a line is about.
struct LoggedJob {
    JobId id{};
    std::string_view kind;
    int attempt{};
};

/// The one door to the log. Every line names the node once it is known, and lines about a job its id, kind and attempt.
///
/// Payloads, results, connection strings and unsanitized error text never go through it. Formatting and sinks that
/// throw are contained: the line is lost, and nothing else.
///
/// **Threads**: safe from any thread, as far as the logger's sinks are (spdlog's `_mt` ones).
class Log {
public:
    /// Without a logger: one of ours, named "pawl", to stderr from level info, unknown to spdlog's registry.
    explicit Log(std::shared_ptr<spdlog::logger> logger = nullptr);
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log();

    [[nodiscard]] const std::shared_ptr<spdlog::logger>& logger() const noexcept { return logger_; }

    /// The node named from now on; zero: none.
    void set_node(std::int64_t node) const noexcept { node_.store(node, std::memory_order_relaxed); }

    [[nodiscard]] bool enabled(LogLevel level) const noexcept;

    template <class... Args>
    void debug(fmt::format_string<Args...> format, Args&&... args) const noexcept {
        write(LogLevel::debug, nullptr, format, fmt::make_format_args(args...));
    }
    template <class... Args>
    void info(fmt::format_string<Args...> format, Args&&... args) const noexcept {
        write(LogLevel::info, nullptr, format, fmt::make_format_args(args...));
    }
    template <class... Args>
    void warn(fmt::format_string<Args...> format, Args&&... args) const noexcept {
        write(LogLevel::warn, nullptr, format, fmt::make_format_args(args...));
    }
    template <class... Args>
    void error(fmt::format_string<Args...> format, Args&&... args) const noexcept {
        write(LogLevel::error, nullptr, format, fmt::make_format_args(args...));
    }

    /// A line about a job.
    template <class... Args>
    void line(LogLevel level, const LoggedJob& job, fmt::format_string<Args...> format, Args&&... args) const noexcept {
        write(level, &job, format, fmt::make_format_args(args...));
    }

private:
    void write(LogLevel level, const LoggedJob* job, fmt::string_view format, fmt::format_args args) const noexcept;

    std::shared_ptr<spdlog::logger> logger_;
    /// Whoever writes lines shares a const log; which node they come from is no part of what it does.
    mutable std::atomic<std::int64_t> node_{0};
};

}  // namespace pawl::base
