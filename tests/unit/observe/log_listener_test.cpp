#include "observe/log_listener.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "support/captured_log.hpp"

namespace {

using namespace std::chrono_literals;
using pawl::observe::EventBus;
using pawl::tests::CapturedLog;

class AnyClock final : public pawl::Clock {
public:
    [[nodiscard]] pawl::Time now() const override { return {}; }
};

std::string logged(pawl::Event event, spdlog::level::level_enum level = spdlog::level::debug) {
    const CapturedLog captured{level};
    EventBus bus{{}, std::make_shared<AnyClock>(), captured.log()};
    const auto subscription = pawl::observe::log_events(bus, captured.log());
    bus.publish(std::move(event));
    bus.start();
    EXPECT_TRUE(bus.stop(10s));
    return captured.text();
}

const pawl::JobEvent job{.id = 42, .kind = "mail.send", .queue = "default", .attempt = 2};

TEST(LogEvents, warns_of_a_retry_on_one_line) {
    const pawl::ErrorRecord record{.type = "Busy", .message = "two\nlines", .causes = {{"Io", "reset"}}};
    EXPECT_EQ(logged(pawl::JobRetrying{job, record, {}, {}, 1500ms}),
              "warning failed, again in 1.500 s: Busy: two\\nlines <- Io: reset job=42 kind=mail.send attempt=2\n");
}

TEST(LogEvents, writes_a_dead_letter_as_an_error) {
    EXPECT_EQ(logged(pawl::JobDlq{{job, {.type = "Busy", .message = "no"}, pawl::Reason::exhausted, 5}}),
              "error is a dead letter (exhausted, 5 counted attempts): Busy: no job=42 kind=mail.send attempt=2\n");
}

TEST(LogEvents, writes_a_success_for_debugging) {
    EXPECT_EQ(logged(pawl::JobSucceeded{job, 250ms, 0}),
              "debug succeeded in 0.250 s job=42 kind=mail.send attempt=2\n");
    EXPECT_EQ(logged(pawl::JobSucceeded{job, 250ms, 0}, spdlog::level::info), "");
}

TEST(LogEvents, writes_a_failure_once) {
    EXPECT_EQ(logged(pawl::JobFailed{{job, {}, pawl::Reason::exhausted, 5}}), "");
}

TEST(LogEvents, writes_what_is_not_about_a_job) {
    EXPECT_EQ(logged(pawl::NodeExpired{{}, 9}), "warning node 9 expired\n");
    EXPECT_EQ(logged(pawl::QueueHalted{{{}, "mail", "", "dead letter 42"}}),
              "error queue mail halted: dead letter 42\n");
}

TEST(LogEvents, wants_nothing_that_the_level_keeps_out) {
    const CapturedLog captured{spdlog::level::warn};
    EventBus bus{{}, std::make_shared<AnyClock>(), captured.log()};
    const auto subscription = pawl::observe::log_events(bus, captured.log());
    EXPECT_FALSE(bus.wanted<pawl::JobStarted>());
    EXPECT_TRUE(bus.wanted<pawl::JobDlq>());
}

}  // namespace
