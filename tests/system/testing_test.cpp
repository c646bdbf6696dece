#include <chrono>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/errors.hpp>
#include <pawl/testing.hpp>

#include "support/heard.hpp"
#include "support/system.hpp"

// What a service's own tests are given. A48.

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Count;
using tests::Heard;
using tests::Note;

class Testing : public tests::SystemTest {};

void resize(const std::string&, int) {}
inline constexpr Task resize_task{"media.resize", &resize};

TEST_F(Testing, what_was_enqueued_can_be_looked_at) {
    Options producer = options();
    producer.queues.clear();
    Scheduler scheduler(producer);
    const JobId first = scheduler.enqueue(Count{1}).with_tags({"payment"}).with_queue("mail").submit().id();
    scheduler.enqueue(Count{2}).with_delay(1h).with_param("tenant", "acme").submit();
    scheduler.enqueue(Note{"other"}).submit();
    scheduler.enqueue(resize_task, "a.png", 640).submit();

    const auto all = pawl::testing::enqueued<Count>(scheduler);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].id, first);
    EXPECT_EQ(all[0].job.n, 1);
    EXPECT_EQ(all[0].queue, "mail");
    EXPECT_THAT(all[0].tags, ::testing::ElementsAre("payment"));
    EXPECT_EQ(all[1].job.n, 2);
    EXPECT_GT(*all[1].run_at, all[0].created_at + 59min);
    EXPECT_EQ(all[1].params.at("tenant"), "acme");

    EXPECT_EQ(pawl::testing::enqueued<Count>(scheduler, {.queue = "mail"}).size(), 1U);
    EXPECT_EQ(pawl::testing::enqueued_count<Count>(scheduler, {.tag = "payment"}), 1U);
    EXPECT_EQ(pawl::testing::enqueued_count<Count>(scheduler, {.queue = "other"}), 0U);
    EXPECT_EQ(pawl::testing::find_enqueued<Count>(scheduler, [](const auto& count) { return count.job.n == 2; })->job.n,
              2);
    EXPECT_FALSE(pawl::testing::find_enqueued<Count>(scheduler, [](const auto& count) { return count.job.n == 3; }));
    const auto resizes = pawl::testing::enqueued(scheduler, resize_task);
    ASSERT_EQ(resizes.size(), 1U);
    EXPECT_EQ(resizes[0].job, std::make_tuple(std::string("a.png"), 640));
}

TEST_F(Testing, checks_say_what_was_there_instead) {
    Scheduler scheduler(options());
    scheduler.enqueue(Note{"hello"}).with_tags({"greeting"}).submit();

    EXPECT_TRUE(pawl::testing::expect_enqueued<Note>(scheduler, 1));
    EXPECT_TRUE(pawl::testing::expect_enqueued<Count>(scheduler, 0));
    EXPECT_TRUE(
        pawl::testing::expect_enqueued<Note>(scheduler, [](const auto& note) { return note.job.text == "hello"; }));
    const auto count = pawl::testing::expect_enqueued<Note>(scheduler, 2);
    EXPECT_FALSE(count);
    EXPECT_THAT(count.message, ::testing::AllOf(::testing::HasSubstr("1 of note where 2 are expected"),
                                                ::testing::HasSubstr("greeting"), ::testing::HasSubstr("hello")));
    const auto any =
        pawl::testing::expect_enqueued<Note>(scheduler, [](const auto& note) { return note.job.text == "bye"; });
    EXPECT_FALSE(any);
    EXPECT_THAT(any.message, ::testing::HasSubstr("hello"));
}

TEST_F(Testing, drain_runs_what_is_due_and_can_be_repeated) {
    std::vector<int> ran;
    Scheduler scheduler(options());
    scheduler.on<Count>([&](const Count& count) {
        ran.push_back(count.n);
        if (count.n == 1) scheduler.enqueue(Count{2}).with_priority(Priority::critical).submit();
    });
    Heard<JobSucceeded> succeeded(scheduler);
    EXPECT_EQ(pawl::testing::drain(scheduler), 0U);
    scheduler.enqueue(Count{1}).submit();
    scheduler.enqueue(Count{3}).with_delay(1h).submit();
    EXPECT_EQ(pawl::testing::drain(scheduler), 2U);
    EXPECT_EQ(pawl::testing::drain(scheduler), 0U);
    EXPECT_EQ(succeeded.count(), 2U);
    EXPECT_EQ(pawl::testing::make_due(scheduler), 1U);
    EXPECT_EQ(pawl::testing::make_due(scheduler), 0U);
    EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
    EXPECT_THAT(ran, ::testing::ElementsAre(1, 2, 3));
    EXPECT_EQ(pawl::testing::enqueued_count<Count>(scheduler), 0U);
    EXPECT_EQ(pawl::testing::enqueued_count<Count>(scheduler, {.state = State::succeeded}), 3U);
}

TEST_F(Testing, a_drained_scheduler_can_be_started_and_a_started_one_not_drained) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    scheduler.enqueue(Count{1}).submit();
    EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
    scheduler.on<Note>([](const Note&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    scheduler.enqueue(Note{"a"}).submit();
    EXPECT_TRUE(succeeded.wait());
    EXPECT_THROW((void)pawl::testing::drain(scheduler), ConfigError);
}

TEST_F(Testing, making_due_wakes_a_started_scheduler) {
    Options slow = options();
    slow.poll_floor = 30s;
    Scheduler scheduler(slow);
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    scheduler.enqueue(Count{1}).with_delay(24h).submit();
    EXPECT_EQ(pawl::testing::make_due(scheduler), 1U);
    EXPECT_TRUE(succeeded.wait(1, 5s));
}

TEST_F(Testing, draining_needs_handlers_and_queues) {
    Scheduler without_handlers(options());
    EXPECT_THROW((void)pawl::testing::drain(without_handlers), ConfigError);
    Options producer = options();
    producer.queues.clear();
    Scheduler without_queues(producer);
    without_queues.on<Count>([](const Count&) {});
    EXPECT_THROW((void)pawl::testing::drain(without_queues), ConfigError);
}

}  // namespace
