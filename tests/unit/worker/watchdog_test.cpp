#include "worker/watchdog.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "support/captured_log.hpp"
#include "support/signal.hpp"
#include "unit/worker/claimed_job.hpp"

namespace {

using namespace std::chrono_literals;
using pawl::tests::CapturedLog;
using pawl::tests::Signal;
using pawl::tests::started_run;
using pawl::worker::StopReason;
using pawl::worker::StopState;
using pawl::worker::Watch;
using pawl::worker::Watchdog;
using Attempt = std::shared_ptr<StopState>;

const auto past = std::chrono::steady_clock::now() - 1s;
const auto later = std::chrono::steady_clock::now() + 24h;

TEST(Watchdog, tells_the_soft_limit_then_requests_the_stop_then_tells_that_it_is_overdue) {
    const CapturedLog captured;
    std::vector<std::string> told;
    Signal overdue;
    Watchdog watchdog{
        {.grace = 0ns,
         .on_soft_limit =
             [&](const Attempt& run) { told.push_back(run->reason() == StopReason::none ? "soft" : "late"); },
         .on_overdue =
             [&](const Attempt& run) {
                 told.push_back(run->reason() == StopReason::hard_limit ? "overdue" : "early");
                 EXPECT_TRUE(run->claim_verdict());
                 overdue.raise();
             }},
        captured.log()};
    const auto watch = watchdog.watch(started_run(), {past, past + 1ms});
    watchdog.start();
    ASSERT_TRUE(overdue.wait());
    watchdog.stop();
    EXPECT_EQ(told, (std::vector<std::string>{"soft", "overdue"}));
}

TEST(Watchdog, says_overdue_again_until_somebody_speaks_for_the_run) {
    const CapturedLog captured;
    Signal overdue;
    Watchdog watchdog{{.grace = 0ns,
                       .on_overdue =
                           [&](const Attempt& run) {
                               overdue.raise();
                               if (overdue.raised() == 3) {
                                   EXPECT_TRUE(run->claim_verdict());
                               }
                           }},
                      captured.log()};
    watchdog.start();
    const auto watch = watchdog.watch(started_run(), {past, past});
    ASSERT_TRUE(overdue.wait(3));
}

TEST(Watchdog, has_no_soft_limit_at_the_hard_one) {
    const CapturedLog captured;
    Signal soft;
    Signal stopped;
    Watchdog watchdog{{.on_soft_limit = [&](const Attempt&) { soft.raise(); }}, captured.log()};
    watchdog.start();
    const auto run = started_run();
    const std::stop_callback on_stop{run->stop_token(), [&] { stopped.raise(); }};
    const auto watch = watchdog.watch(run, {past, past});
    ASSERT_TRUE(stopped.wait());
    EXPECT_EQ(soft.raised(), 0);
}

TEST(Watchdog, wakes_for_a_deadline_that_is_earlier_than_the_one_it_waits_for) {
    const CapturedLog captured;
    Signal stopped;
    Watchdog watchdog{{}, captured.log()};
    watchdog.start();
    const auto far = watchdog.watch(started_run(1), {later, later});
    const auto run = started_run(2);
    const std::stop_callback on_stop{run->stop_token(), [&] { stopped.raise(); }};
    const auto near =
        watchdog.watch(run, {std::chrono::steady_clock::now() + 1ms, std::chrono::steady_clock::now() + 2ms});
    EXPECT_TRUE(stopped.wait());
}

TEST(Watchdog, leaves_an_ended_watch_alone) {
    const CapturedLog captured;
    Signal stopped;
    Watchdog watchdog{{}, captured.log()};
    const auto ended = started_run(1);
    { const auto watch = watchdog.watch(ended, {past, past}); }
    const auto run = started_run(2);
    const std::stop_callback on_stop{run->stop_token(), [&] { stopped.raise(); }};
    const auto watch = watchdog.watch(run, {past + 1ms, past + 1ms});
    watchdog.start();
    ASSERT_TRUE(stopped.wait());
    EXPECT_EQ(ended->reason(), StopReason::none);
}

TEST(Watchdog, sweeps_ended_watches_out_in_bulk) {
    const CapturedLog captured;
    Watchdog watchdog{{}, captured.log()};
    watchdog.start();
    std::vector<Watch> kept;
    const auto run = started_run();
    for (int i = 0; i < 10'000; ++i) {
        auto watch = watchdog.watch(run, {later, later});
        if (i % 100 == 0) kept.push_back(std::move(watch));
    }
    EXPECT_LE(watchdog.size(), 400u);
    EXPECT_GE(watchdog.size(), kept.size());
}

TEST(Watchdog, contains_a_callback_that_throws) {  // B190
    const CapturedLog captured;
    Signal stopped;
    Watchdog watchdog{{.on_soft_limit = [](const Attempt&) { throw 42; }}, captured.log()};
    watchdog.start();
    const auto run = started_run();
    const std::stop_callback on_stop{run->stop_token(), [&] { stopped.raise(); }};
    const auto watch = watchdog.watch(run, {past, past + 1ms});
    ASSERT_TRUE(stopped.wait());
    watchdog.stop();
    EXPECT_NE(captured.text().find("error"), std::string::npos);
}

TEST(Watchdog, may_go_before_its_watches) {
    const CapturedLog captured;
    std::optional<Watchdog> watchdog{std::in_place, Watchdog::Options{}, captured.log()};
    watchdog->start();
    const auto watch = watchdog->watch(started_run(), {later, later});
    watchdog.reset();
}

}  // namespace
