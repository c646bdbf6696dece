#pragma once

#include <memory>
#include <sstream>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include "base/log.hpp"
#include "support/planted.hpp"

namespace pawl::tests {

/// A log whose lines a test can read: "level text", one a line.
class CapturedLog {
public:
    explicit CapturedLog(spdlog::level::level_enum level = spdlog::level::debug) {
        const spdlog::sinks_init_list sinks{std::make_shared<spdlog::sinks::ostream_sink_mt>(text_),
                                            std::make_shared<SearchedSink>(leaks())};
        auto logger = std::make_shared<spdlog::logger>("captured", sinks);
        logger->set_pattern("%l %v");
        logger->set_level(level);
        log_ = std::make_shared<base::Log>(std::move(logger));
    }

    [[nodiscard]] const std::shared_ptr<base::Log>& log() const { return log_; }
    /// Only while nobody writes.
    [[nodiscard]] std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
    std::shared_ptr<base::Log> log_;
};

}  // namespace pawl::tests
