#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>
#include <pawl/testing.hpp>

#include "support/heard.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Count;
using tests::Heard;
using tests::Note;

/// The names of a scheduler's job events, in the order in which they came.
class Story {
public:
    explicit Story(Scheduler& scheduler) { listen(scheduler, static_cast<const Event*>(nullptr)); }

    [[nodiscard]] std::vector<std::string> of(JobId id) {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> names;
        for (const auto& [job, name] : told_) {
            if (job == id) names.push_back(name);
        }
        return names;
    }

private:
    template <class... E>
    void listen(Scheduler& scheduler, const std::variant<E...>*) {
        (listen_to<E>(scheduler), ...);
    }
    template <class E>
    void listen_to(Scheduler& scheduler) {
        if constexpr (std::derived_from<E, JobEvent>) {
            subscriptions_.push_back(scheduler.on_event<E>([this](const E& event) {
                const std::lock_guard lock(mutex_);
                told_.emplace_back(event.id, std::string(name_of(Event(event))));
            }));
        }
    }

    std::mutex mutex_;
    std::vector<std::pair<JobId, std::string>> told_;
    std::vector<Subscription> subscriptions_;
};

class Events : public tests::SystemTest {};

// P22, P24, R36, A44, T28
TEST_F(Events, each_job_tells_its_story_in_order) {
    Scheduler scheduler(options());
    scheduler.on<Note>([](const Note& note, JobContext& context) -> Reply<> {
        if (note.text == "retries" && context.attempt() < 3) throw std::runtime_error("not yet");
        if (note.text == "dies") throw TransientError("always");
        if (note.text == "is poison") throw std::runtime_error("always");
        if (note.text == "snoozes" && context.run_at() - context.created_at() < 1ms) return Snooze{2ms};
        if (note.text == "is canceled") return Cancel{"no"};
        if (note.text == "is discarded") throw Discard{"no"};
        return std::monostate{};
    });
    Story story(scheduler);
    const std::vector<std::pair<const char*, std::vector<std::string>>> cases{
        {"succeeds", {"JobStarted", "JobSucceeded"}},
        {"retries", {"JobStarted", "JobRetrying", "JobStarted", "JobRetrying", "JobStarted", "JobSucceeded"}},
        {"dies", {"JobStarted", "JobRetrying", "JobStarted", "JobRetrying", "JobStarted", "JobFailed", "JobDlq"}},
        {"is poison",
         {"JobStarted", "JobRetrying", "JobStarted", "JobRetrying", "JobStarted", "JobFailed", "JobDlq",
          "PoisonOrBug"}},
        {"snoozes", {"JobStarted", "JobSnoozed", "JobStarted", "JobSucceeded"}},
        {"is canceled", {"JobStarted", "JobCanceled"}},
        {"is discarded", {"JobStarted", "JobFailed", "JobDiscarded"}},
    };
    for (const auto& [text, told] : cases) {
        SCOPED_TRACE(text);
        const JobId id = scheduler.enqueue(Note{text}).with_max_retries(2).submit().id();
        do {
            (void)pawl::testing::drain(scheduler);
        } while (pawl::testing::make_due(scheduler) > 0);
        EXPECT_EQ(story.of(id), told);
    }
}

TEST_F(Events, a_time_out_is_told_before_what_becomes_of_it) {
    Options options = this->options();
    options.soft_limit = 1;
    Scheduler scheduler(options);
    scheduler.on<Count>([](const Count&, JobContext& context) {
        while (!context.stop_token().stop_requested()) std::this_thread::yield();
        throw std::runtime_error("given up");
    });
    Story story(scheduler);
    const JobId id = scheduler.enqueue(Count{1}).with_timeout(20ms).with_max_retries(1).submit().id();
    EXPECT_EQ(pawl::testing::drain(scheduler), 2U);
    const std::vector<std::string> told{"JobStarted", "JobExecutionTimedOut", "JobRetrying",
                                        "JobStarted", "JobExecutionTimedOut", "JobFailed",
                                        "JobDlq"};
    EXPECT_EQ(story.of(id), told);
}

// P17
TEST_F(Events, an_outcome_is_told_only_once_it_is_written) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count& count) {
        if (count.n % 3 == 1) throw std::runtime_error("bad");
        if (count.n % 3 == 2) throw Cancel{"no"};
    });
    std::atomic<int> told{};
    std::atomic<int> wrong{};
    const auto expect = [&](State state) {
        return [&, state](const JobEvent& event) {
            const auto job = scheduler.find(event.id);
            if (!job || job->state != state) ++wrong;
            ++told;
        };
    };
    const auto succeeded = scheduler.on_event<JobSucceeded>(expect(State::succeeded));
    const auto failed = scheduler.on_event<JobFailed>(expect(State::failed));
    const auto canceled = scheduler.on_event<JobCanceled>(expect(State::canceled));
    scheduler.start();
    std::vector<Count> jobs;
    for (int n = 0; n < 60; ++n) jobs.push_back({n});
    (void)scheduler.enqueue_many(jobs, {.max_retries = 0});
    EXPECT_TRUE(tests::eventually([&] { return told == 60; }));
    EXPECT_EQ(wrong, 0);
}

TEST_F(Events, a_listener_that_throws_disturbs_nobody) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    const auto throwing = scheduler.on_event<JobSucceeded>([](const JobSucceeded&) { throw 42; });
    Heard<JobSucceeded> succeeded(scheduler);
    Heard<MisbehavingHook> misbehaving(scheduler);
    scheduler.start();
    (void)scheduler.enqueue_many({Count{1}, Count{2}, Count{3}});
    EXPECT_TRUE(succeeded.wait(3));
    EXPECT_TRUE(misbehaving.wait(3));
    EXPECT_EQ(scheduler.counts().succeeded, 3);
}

// P22, P28
TEST_F(Events, a_dead_letter_is_told_as_failed_and_then_as_such) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) { throw std::runtime_error("password=hunter2"); });
    Heard<JobFailed> failed(scheduler);
    Heard<JobDlq> dead(scheduler);
    const JobId id = scheduler.enqueue(Count{1}).with_max_retries(0).submit().id();
    EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
    ASSERT_EQ(failed.count(), 1U);
    ASSERT_EQ(dead.count(), 1U);
    const JobDlq event = dead.all().front();
    EXPECT_EQ(event.id, id);
    EXPECT_EQ(event.kind, "count");
    EXPECT_EQ(event.queue, "default");
    EXPECT_EQ(event.attempt, 1);
    EXPECT_EQ(event.attempts, 1);
    EXPECT_EQ(event.reason, Reason::exhausted);
    EXPECT_GT(event.node, 0);
    EXPECT_THAT(event.record.message, ::testing::Not(::testing::HasSubstr("hunter2")));
    EXPECT_EQ(event.record, failed.all().front().record);
}

TEST_F(Events, a_node_tells_of_its_start_and_its_stop) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    Heard<NodeStarted> started(scheduler);
    Heard<NodeStopped> stopped(scheduler);
    scheduler.start();
    EXPECT_TRUE(started.wait());
    scheduler.stop();
    ASSERT_EQ(stopped.count(), 1U);
    EXPECT_EQ(stopped.all().front().node, started.all().front().node);
}

}  // namespace
