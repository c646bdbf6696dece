#include "base/loop.hpp"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "support/captured_log.hpp"
#include "support/signal.hpp"

namespace {

using namespace std::chrono_literals;
namespace base = pawl::base;
using pawl::base::FailureWait;
using pawl::base::Loop;
using pawl::base::LoopOptions;
using pawl::tests::CapturedLog;
using pawl::tests::Signal;

class Highest final : public pawl::RandomSource {
public:
    double uniform() override { return 0.999; }
};

class LoopTest : public testing::Test {
protected:
    CapturedLog captured;
    Highest random;
};

TEST_F(LoopTest, runs_a_step_at_each_poke) {
    Signal stepped;
    Loop loop{{.name = "test"},
              [&](const std::stop_token&) {
                  stepped.raise();
                  return Loop::until_poked;
              },
              *captured.log(),
              random};
    loop.start();
    ASSERT_TRUE(stepped.wait(1));
    loop.poke();
    ASSERT_TRUE(stepped.wait(2));
    ASSERT_TRUE(loop.run_step(10s));
    EXPECT_TRUE(stepped.wait(3));
}

TEST_F(LoopTest, keeps_a_poke_that_comes_during_a_step) {
    Signal stepped;
    Loop* self = nullptr;
    Loop loop{{.name = "test"},
              [&](const std::stop_token&) {
                  if (stepped.raised() == 0) self->poke();
                  stepped.raise();
                  return Loop::until_poked;
              },
              *captured.log(),
              random};
    self = &loop;
    loop.start();
    EXPECT_TRUE(stepped.wait(2));
}

TEST_F(LoopTest, goes_on_after_a_step_that_throws) {  // B190, B196
    Signal stepped;
    std::atomic<int> described{0};
    Loop loop{{.name = "claim loop",
               .first_failure_wait = 1us,
               .failure_wait_cap = 1ms,
               .on_failure =
                   [&](const std::exception_ptr&) {
                       ++described;
                       return base::FailedStep{"sanitized", base::FailureCause::connection};
                   }},
              [&](const std::stop_token&) -> Loop::Wait {
                  stepped.raise();
                  if (stepped.raised() == 1) throw std::runtime_error("secret");
                  if (stepped.raised() == 2) throw 42;
                  return Loop::until_poked;
              },
              *captured.log(),
              random};
    loop.start();
    ASSERT_TRUE(stepped.wait(3));
    loop.stop();
    EXPECT_EQ(described, 2);
    EXPECT_EQ(loop.failures(), 0);
    EXPECT_NE(captured.text().find("warning claim loop failed"), std::string::npos);
    EXPECT_NE(captured.text().find("sanitized"), std::string::npos);
    EXPECT_EQ(captured.text().find("secret"), std::string::npos);
}

TEST_F(LoopTest, survives_a_failure_hook_that_throws) {
    Signal stepped;
    Loop loop{{.name = "test",
               .first_failure_wait = 1us,
               .on_failure = [](const std::exception_ptr&) -> base::FailedStep { throw 1; }},
              [&](const std::stop_token&) -> Loop::Wait {
                  stepped.raise();
                  if (stepped.raised() == 1) throw 42;
                  return Loop::until_poked;
              },
              *captured.log(),
              random};
    loop.start();
    EXPECT_TRUE(stepped.wait(2));
}

TEST_F(LoopTest, says_how_often_it_failed_with_what_and_since_when_a_step_takes) {
    Signal failed;
    Signal go_on;
    Loop loop{{.name = "test",
               .first_failure_wait = 1us,
               .on_failure =
                   [&](const std::exception_ptr&) {
                       return base::FailedStep{"sanitized", base::FailureCause::connection};
                   }},
              [&](const std::stop_token&) -> Loop::Wait {
                  failed.raise();
                  if (failed.raised() <= 2) throw 42;
                  (void)go_on.wait();
                  return Loop::until_poked;
              },
              *captured.log(),
              random};
    EXPECT_EQ(loop.vitals().failures, 0);
    EXPECT_EQ(loop.vitals().in_step_for, 0ns);
    loop.start();
    ASSERT_TRUE(failed.wait(3));
    const base::LoopVitals hanging = loop.vitals();
    EXPECT_EQ(hanging.failures, 2);
    EXPECT_EQ(hanging.last_failure, "sanitized");
    EXPECT_EQ(hanging.cause, base::FailureCause::connection);
    EXPECT_GT(hanging.in_step_for, 0ns);
    EXPECT_GT(loop.vitals().in_step_for, hanging.in_step_for);
    go_on.raise();
    EXPECT_TRUE(loop.run_step(20s));
    EXPECT_EQ(loop.vitals().failures, 0);
    EXPECT_TRUE(loop.vitals().last_failure.empty());
    EXPECT_EQ(loop.vitals().in_step_for, 0ns);
}

TEST_F(LoopTest, is_not_hurried_by_pokes_after_a_failure) {
    Signal stepped;
    Loop loop{{.name = "test", .first_failure_wait = 1h, .failure_wait_cap = 2h},
              [&](const std::stop_token&) -> Loop::Wait {
                  stepped.raise();
                  throw std::runtime_error("away");
              },
              *captured.log(),
              random};
    loop.start();
    ASSERT_TRUE(stepped.wait(1));
    loop.poke();
    EXPECT_FALSE(loop.run_step(20ms));
    EXPECT_EQ(stepped.raised(), 1);
}

TEST_F(LoopTest, can_be_stopped_by_its_own_step) {
    Signal stepped;
    Loop* self = nullptr;
    Loop loop{{.name = "test"},
              [&](const std::stop_token&) {
                  self->stop();
                  stepped.raise();
                  return Loop::Wait::zero();
              },
              *captured.log(),
              random};
    self = &loop;
    loop.start();
    ASSERT_TRUE(stepped.wait(1));
    loop.stop();
    EXPECT_EQ(stepped.raised(), 1);
}

TEST_F(LoopTest, starts_and_stops_at_once_a_thousand_times) {  // B064, B188
    for (int i = 0; i < 1000; ++i) {
        Loop loop{{.name = "test"}, [](const std::stop_token&) { return Loop::until_poked; }, *captured.log(), random};
        if (i % 3 != 0) loop.start();
        if (i % 2 != 0) loop.stop();
    }
}

TEST(FailureWait, doubles_up_to_the_cap_and_starts_over) {
    FailureWait wait{100ms, 10s};
    EXPECT_EQ(wait.next(1.0), 100ms);
    EXPECT_EQ(wait.next(0.0), 100ms);
    EXPECT_EQ(wait.next(1.0), 400ms);
    for (int i = 0; i < 100; ++i) static_cast<void>(wait.next(0.5));
    EXPECT_EQ(wait.next(1.0), 10s);
    EXPECT_EQ(wait.next(0.0), 5s);
    wait.reset();
    EXPECT_EQ(wait.next(1.0), 100ms);
}

}  // namespace
