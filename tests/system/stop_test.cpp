#include <atomic>
#include <chrono>
#include <filesystem>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>
#include <pawl/stop_report.hpp>

#include "support/heard.hpp"
#include "support/signal.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using std::chrono::steady_clock;
using tests::Count;
using tests::Heard;
using tests::Nudge;
using tests::Signal;

class Stop : public tests::SystemTest {};

/// Ends when its stop is requested, however long that takes.
void wait_for_stop(const JobContext& context) {
    Signal stopped;
    const std::stop_callback raise(context.stop_token(), [&] { stopped.raise(); });
    ASSERT_TRUE(stopped.wait());
}

std::size_t threads() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

int fate_count(const StopReport& report, StopReport::Fate fate) {
    return static_cast<int>(
        std::count_if(report.jobs.begin(), report.jobs.end(), [&](const auto& job) { return job.fate == fate; }));
}

TEST_F(Stop, gives_back_what_was_interrupted_without_a_charge) {  // B013, B058
    Options options = this->options();
    options.queues = {{"default", 2}};
    Scheduler scheduler(options);
    Signal began;
    scheduler.on<Count>([&](const Count&, JobContext& context) {
        began.raise();
        wait_for_stop(context);
        context.throw_if_stopped();
    });
    Heard<JobInterrupted> interrupted(scheduler);
    std::vector<Count> jobs(20);
    const auto ids = scheduler.enqueue_many(jobs, {.max_retries = 0});
    scheduler.start();
    ASSERT_TRUE(began.wait(2));
    const StopReport report = scheduler.stop(0s, 10s);
    EXPECT_TRUE(report.clean());
    EXPECT_GE(fate_count(report, StopReport::Fate::released), 2);
    EXPECT_GE(interrupted.count(), 2U);
    for (const JobId id : ids) {
        const auto job = scheduler.find(id);
        EXPECT_EQ(job->state, State::pending);
        EXPECT_EQ(job->attempts, 0);
    }
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.node where state = 'stopped'"), 1);
    EXPECT_EQ(number("select count(*) from @schema@.waiting"), 0);

    const auto restarted = steady_clock::now();
    Scheduler next(options);
    next.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(next);
    next.start();
    EXPECT_TRUE(succeeded.wait(1));
    EXPECT_LT(steady_clock::now() - restarted, 3s);
    EXPECT_TRUE(succeeded.wait(20));
}

TEST_F(Stop, lets_running_handlers_end_within_the_grace) {
    Scheduler scheduler(options());
    Signal began;
    Signal finish;
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
        began.raise();
        EXPECT_TRUE(finish.wait());
        EXPECT_FALSE(context.stop_token().stop_requested());
    });
    const JobId id = scheduler.enqueue(Nudge{}).submit().id();
    scheduler.start();
    ASSERT_TRUE(began.wait());
    std::optional<StopReport> report;
    std::jthread stopper([&] { report = scheduler.stop(10s, 10s); });
    finish.raise();
    stopper.join();
    EXPECT_TRUE(report->clean());
    EXPECT_EQ(scheduler.find(id)->state, State::succeeded);
}

TEST_F(Stop, can_be_called_again_and_before_a_start) {
    Scheduler scheduler(options());
    scheduler.on<Nudge>([](const Nudge&) {});
    EXPECT_TRUE(scheduler.stop().clean());
    scheduler.start();
    EXPECT_TRUE(scheduler.stop().clean());
    EXPECT_TRUE(scheduler.stop().clean());
    EXPECT_THROW(scheduler.start(), ConfigError);
    EXPECT_THROW((void)scheduler.stop(-1s, 0s), ConfigError);
}

TEST_F(Stop, can_be_called_from_many_threads_at_once) {
    Scheduler scheduler(options());
    Signal began;
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
        began.raise();
        wait_for_stop(context);
    });
    scheduler.enqueue(Nudge{}).submit();
    scheduler.start();
    ASSERT_TRUE(began.wait());
    std::atomic<int> stopped{};
    std::vector<std::jthread> stoppers;
    std::latch together(5);
    for (int i = 0; i < 5; ++i) {
        stoppers.emplace_back([&] {
            together.arrive_and_wait();
            if (scheduler.stop(0s, 10s).clean()) ++stopped;
        });
    }
    stoppers.clear();
    EXPECT_EQ(stopped, 5);
}

TEST_F(Stop, called_from_a_handler_it_waits_for_nobody_and_still_stops) {
    Scheduler scheduler(options());
    Signal returned;
    scheduler.on<Nudge>([&](const Nudge&) {
        (void)scheduler.stop(5s, 5s);
        (void)scheduler.stop(5s, 5s);
        returned.raise();
    });
    const auto begun = steady_clock::now();
    const JobId id = scheduler.enqueue(Nudge{}).submit().id();
    scheduler.start();
    ASSERT_TRUE(returned.wait());
    const StopReport report = scheduler.stop(5s, 5s);
    EXPECT_TRUE(report.clean());
    EXPECT_LT(steady_clock::now() - begun, 5s);
    EXPECT_EQ(scheduler.find(id)->state, State::succeeded);
    EXPECT_EQ(number("select count(*) from @schema@.node where state = 'stopped'"), 1);
}

TEST_F(Stop, starting_and_stopping_leaves_no_thread_behind) {  // B064
    {
        // The first one of a process makes what later ones share.
        Scheduler scheduler(options());
        scheduler.on<Nudge>([](const Nudge&) {});
        scheduler.start();
    }
    const std::size_t base = threads();
    for (int i = 0; i < 20; ++i) {
        Options options = this->options();
        options.queues = {{"default", 1}};
        Scheduler scheduler(options);
        scheduler.on<Nudge>([](const Nudge&) {});
        scheduler.start();
        const auto begun = steady_clock::now();
        EXPECT_TRUE(scheduler.stop().clean());
        EXPECT_LT(steady_clock::now() - begun, 2s);
    }
    EXPECT_TRUE(tests::eventually([&] { return threads() <= base; }));
    EXPECT_EQ(number("select count(*) from @schema@.node where state <> 'stopped'"), 0);
}

TEST_F(Stop, the_destructor_stops_without_a_grace) {
    Signal began;
    JobId id{};
    {
        Scheduler scheduler(options());
        scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
            began.raise();
            wait_for_stop(context);
            context.throw_if_stopped();
        });
        id = scheduler.enqueue(Nudge{}).submit().id();
        scheduler.start();
        ASSERT_TRUE(began.wait());
    }
    EXPECT_EQ(number("select count(*) from @schema@.ready where attempts = 0"), 1);
    EXPECT_GT(id, 0);
}

// R37
TEST_F(Stop, is_bounded_by_a_handler_that_ignores_its_token_and_names_it) {
    // Shared with the handler, which outlives the scheduler.
    struct Shared {
        Signal began;
        Signal let_go;
        Signal gone;
    };
    const auto shared = std::make_shared<Shared>();
    JobId id{};
    {
        Scheduler scheduler(options());
        scheduler.on<Nudge>([shared](const Nudge&) {
            shared->began.raise();
            EXPECT_TRUE(shared->let_go.wait());
            shared->gone.raise();
        });
        id = scheduler.enqueue(Nudge{}).with_max_retries(0).submit().id();
        scheduler.start();
        ASSERT_TRUE(shared->began.wait());
        const auto begun = steady_clock::now();
        const StopReport report = scheduler.stop(100ms, 100ms);
        EXPECT_LT(steady_clock::now() - begun, 5s);
        EXPECT_FALSE(report.clean());
        EXPECT_THAT(report.still_running, ::testing::ElementsAre(id));
        ASSERT_EQ(report.jobs.size(), 1U);
        EXPECT_EQ(report.jobs.front().fate, StopReport::Fate::released);
        EXPECT_THAT(report.jobs.front().why, ::testing::HasSubstr("hard grace"));
        EXPECT_EQ(scheduler.find(id)->state, State::pending);
        EXPECT_EQ(scheduler.find(id)->attempts, 0);
    }
    shared->let_go.raise();
    EXPECT_TRUE(shared->gone.wait());
}

TEST_F(Stop, a_fatal_error_gives_the_job_back_and_ends_the_work_here) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) { throw WorkerFatal{"the device is gone"}; });
    Heard<WorkerStopped> stopped(scheduler);
    const JobId first = scheduler.enqueue(Count{1}).submit().id();
    scheduler.start();
    ASSERT_TRUE(stopped.wait());
    EXPECT_TRUE(reaches(scheduler, first, State::pending));
    EXPECT_EQ(scheduler.find(first)->attempts, 0);
    EXPECT_TRUE(scheduler.stop().clean());
}

}  // namespace
