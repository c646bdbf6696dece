#include "base/log.hpp"

#include <iterator>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace pawl::base {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warn:
            return spdlog::level::warn;
        case LogLevel::error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

// Made by hand: spdlog's factories would enter it in the process-wide registry.
std::shared_ptr<spdlog::logger> our_logger() {
    return std::make_shared<spdlog::logger>("pawl", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
}

}  // namespace

Log::Log(std::shared_ptr<spdlog::logger> logger) : logger_(logger ? std::move(logger) : our_logger()) {}

Log::~Log() = default;

bool Log::enabled(LogLevel level) const noexcept { return logger_->should_log(to_spdlog(level)); }

void Log::write(LogLevel level, const LoggedJob* job, fmt::string_view format, fmt::format_args args) const noexcept {
    if (!enabled(level)) return;
    try {
        fmt::memory_buffer line;
        fmt::vformat_to(std::back_inserter(line), format, args);
        if (job != nullptr) {
            fmt::format_to(std::back_inserter(line), " job={} kind={} attempt={}", job->id, job->kind, job->attempt);
        }
        if (const auto node = node_.load(std::memory_order_relaxed); node != 0) {
            fmt::format_to(std::back_inserter(line), " node={}", node);
        }
        logger_->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
    } catch (...) {  // NOLINT(bugprone-empty-catch)
        // There is nowhere left to say it, and a log line is not worth a job.
    }
}

}  // namespace pawl::base
