#include "base/log.hpp"

#include <stdexcept>

#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "support/captured_log.hpp"

namespace {

using pawl::base::Log;
using pawl::base::LogLevel;
using pawl::tests::CapturedLog;

TEST(Log, names_job_and_node_on_a_line_about_a_job) {
    const CapturedLog captured;
    captured.log()->set_node(7);
    captured.log()->line(LogLevel::warn, {42, "billing.charge", 3}, "failed {} times", 2);
    EXPECT_EQ(captured.text(), "warning failed 2 times job=42 kind=billing.charge attempt=3 node=7\n");
}

TEST(Log, names_no_node_before_there_is_one) {
    const CapturedLog captured;
    captured.log()->info("starts");
    EXPECT_EQ(captured.text(), "info starts\n");
}

TEST(Log, formats_nothing_below_the_level) {
    const CapturedLog captured{spdlog::level::warn};
    captured.log()->info("quiet");
    EXPECT_FALSE(captured.log()->enabled(LogLevel::info));
    EXPECT_EQ(captured.text(), "");
}

TEST(Log, leaves_the_process_wide_registry_alone) {
    const Log log;
    EXPECT_EQ(log.logger()->name(), "pawl");
    EXPECT_EQ(spdlog::get("pawl"), nullptr);
}

class ThrowingSink final : public spdlog::sinks::base_sink<std::mutex> {
    void sink_it_(const spdlog::details::log_msg&) override { throw 42; }
    void flush_() override {}
};

TEST(Log, contains_a_sink_that_throws) {  // B190
    const Log log{std::make_shared<spdlog::logger>("throws", std::make_shared<ThrowingSink>())};
    log.logger()->set_error_handler([](const std::string&) {});
    log.error("lost");
}

}  // namespace
