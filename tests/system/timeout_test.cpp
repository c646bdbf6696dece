#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>

#include "support/heard.hpp"
#include "support/signal.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Count;
using tests::Heard;
using tests::Nudge;
using tests::Signal;

class Timeouts : public tests::SystemTest {};

TEST_F(Timeouts, the_token_fires_at_the_limit_and_what_is_thrown_then_is_a_timeout) {
    Scheduler scheduler(options());
    std::atomic<bool> early{};
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
        Signal stopped;
        const std::stop_callback raise(context.stop_token(), [&] { stopped.raise(); });
        early = !stopped.wait() || context.remaining() > 0s;
        throw std::runtime_error("gave up");
    });
    Heard<JobSoftLimit> soft(scheduler);
    Heard<JobExecutionTimedOut> timed_out(scheduler);
    Heard<JobDlq> dead(scheduler);
    const JobId id = scheduler.enqueue(Nudge{}).with_timeout(200ms).with_max_retries(0).submit().id();
    scheduler.start();
    ASSERT_TRUE(dead.wait());
    EXPECT_FALSE(early);
    ASSERT_EQ(soft.count(), 1U);
    EXPECT_EQ(soft.all().front().limit, 160ms);
    EXPECT_GE(soft.all().front().elapsed, 160ms);
    ASSERT_EQ(timed_out.count(), 1U);
    EXPECT_EQ(timed_out.all().front().limit, 200ms);
    EXPECT_EQ(scheduler.find(id)->reason, Reason::timed_out);
    EXPECT_THAT(scheduler.find(id)->error->type, ::testing::HasSubstr("TimedOut"));
    ASSERT_FALSE(scheduler.find(id)->error->causes.empty());
    EXPECT_EQ(scheduler.find(id)->error->causes.front().message, "gave up");
}

TEST_F(Timeouts, the_event_names_a_limit_that_is_the_kinds) {
    Scheduler scheduler(options());
    scheduler
        .on<Nudge>([](const Nudge&, JobContext& context) {
            Signal stopped;
            const std::stop_callback raise(context.stop_token(), [&] { stopped.raise(); });
            (void)stopped.wait();
            context.throw_if_stopped();
        })
        .with_timeout(50ms)
        .with_max_retries(0);
    Heard<JobExecutionTimedOut> timed_out(scheduler);
    scheduler.enqueue(Nudge{}).submit();
    scheduler.start();
    ASSERT_TRUE(timed_out.wait());
    EXPECT_EQ(timed_out.all().front().limit, 50ms);
}

TEST_F(Timeouts, a_handler_that_returns_within_the_grace_has_succeeded) {
    Scheduler scheduler(options());
    scheduler.on<Nudge>([](const Nudge&, JobContext& context) {
        Signal stopped;
        const std::stop_callback raise(context.stop_token(), [&] { stopped.raise(); });
        EXPECT_TRUE(stopped.wait());
        return 1;
    });
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.enqueue(Nudge{}).with_timeout(50ms).submit();
    scheduler.start();
    EXPECT_TRUE(succeeded.wait());
}

// P13
TEST_F(Timeouts, a_handler_that_does_not_come_back_is_settled_without_it_and_its_thread_replaced) {
    struct Shared {
        Signal let_go;
    };
    const auto shared = std::make_shared<Shared>();
    Options options = this->options();
    options.queues = {{"default", 1}};
    options.timeout_grace = 100ms;
    Scheduler scheduler(options);
    std::atomic<int> runs{};
    scheduler.on<Nudge>([&runs, shared](const Nudge&, JobContext& context) {
        ++runs;
        if (context.attempt() == 1) {
            EXPECT_TRUE(shared->let_go.wait());
            throw std::runtime_error("too late to count");
        }
    });
    scheduler.on<Count>([](const Count&) {});
    Heard<ThreadAbandoned> abandoned(scheduler);
    Heard<ThreadReturned> came_back(scheduler);
    Heard<JobSucceeded> succeeded(scheduler);
    const JobId id = scheduler.enqueue(Nudge{}).with_timeout(100ms).submit().id();
    scheduler.start();
    ASSERT_TRUE(abandoned.wait());
    EXPECT_EQ(abandoned.all().front().id, id);
    // The only thread is taken, and still another job runs.
    const JobId other = scheduler.enqueue(Count{1}).submit().id();
    EXPECT_TRUE(succeeded.wait_of(other));
    // Its own retry is not run beside it.
    EXPECT_EQ(runs, 1);
    shared->let_go.raise();
    EXPECT_TRUE(came_back.wait());
    EXPECT_TRUE(succeeded.wait_of(id));
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(scheduler.find(id)->state, State::succeeded);
    EXPECT_EQ(scheduler.find(id)->attempts, 1);
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 1);
    EXPECT_TRUE(scheduler.stop().clean());
}

TEST_F(Timeouts, the_retry_of_a_run_that_hangs_here_is_left_to_another_node) {
    struct Shared {
        Signal let_go;
        Signal gone;
    };
    const auto shared = std::make_shared<Shared>();
    Options options = this->options();
    options.timeout_grace = 50ms;
    options.poll_floor = 200ms;
    Scheduler here(options);
    here.on<Nudge>([shared](const Nudge&) {
        EXPECT_TRUE(shared->let_go.wait());
        shared->gone.raise();
    });
    Heard<ThreadAbandoned> abandoned(here);
    const JobId id = here.enqueue(Nudge{}).with_timeout(50ms).submit().id();
    here.start();
    ASSERT_TRUE(abandoned.wait());

    Scheduler elsewhere(options);
    elsewhere.on<Nudge>([](const Nudge&) {});
    Heard<JobSucceeded> succeeded(elsewhere);
    elsewhere.start();
    EXPECT_TRUE(succeeded.wait_of(id));
    shared->let_go.raise();
    EXPECT_TRUE(shared->gone.wait());
    EXPECT_EQ(elsewhere.find(id)->attempts, 1);
}

// P8, P13
TEST_F(Timeouts, limits_come_from_the_job_then_the_kind_then_the_scheduler) {
    Options options = this->options();
    options.default_timeout = 3h;
    Scheduler scheduler(options);
    std::atomic<std::int64_t> count_limit{}, nudge_limit{};
    std::atomic<bool> unlimited{};
    const auto hours_left = [](JobContext& context) {
        return std::chrono::round<std::chrono::hours>(*context.remaining()).count();
    };
    scheduler.on<Count>([&](const Count& count, JobContext& context) {
        if (count.n == 0) {
            unlimited = !context.deadline() && !context.remaining();
        } else {
            count_limit = hours_left(context);
        }
    });
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) { nudge_limit = hours_left(context); }).with_timeout(2h);
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    scheduler.enqueue(Count{1}).submit();
    scheduler.enqueue(Count{0}).with_timeout(no_timeout).submit();
    scheduler.enqueue(Nudge{}).submit();
    ASSERT_TRUE(succeeded.wait(3));
    EXPECT_EQ(count_limit, 3);
    EXPECT_EQ(nudge_limit, 2);
    EXPECT_TRUE(unlimited);
    scheduler.enqueue(Nudge{}).with_timeout(1h).submit();
    ASSERT_TRUE(succeeded.wait(4));
    EXPECT_EQ(nudge_limit, 1);
}

}  // namespace
