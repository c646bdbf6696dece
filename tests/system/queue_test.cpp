#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/pawl.hpp>

#include "support/signal.hpp"
#include "support/system.hpp"

namespace pawl {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

struct Step {
    static constexpr std::string_view kind = "queues.step";
    int number{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Step, number)
};

class SystemQueues : public tests::SystemTest {
protected:
    // P16: work whose order counts stops at the first dead letter, and goes on when a person says so.
    void halt_and_go_on(bool listen) {
        Options setup = options();
        setup.listen = listen;
        setup.poll_floor = 50ms;
        setup.queues = {
            {.name = "ordered", .concurrency = 1, .on_dead_letter = DeadLetterAction::pause_queue, .runbook = "call"}};
        Scheduler scheduler{setup};
        std::vector<int> ran;
        std::mutex mutex;
        std::atomic<bool> broken{true};
        scheduler.on<Step>([&](const Step& step) {
            const std::lock_guard lock(mutex);
            if (step.number == 5 && broken) throw PermanentError("step 5 is broken");
            ran.push_back(step.number);
        });
        tests::Signal halted;
        std::string why;
        std::string queue;
        const auto heard = scheduler.on_event<QueueHalted>([&](const QueueHalted& event) {
            queue = event.queue;
            why = event.why;
            halted.raise();
        });
        std::vector<Step> steps(10);
        for (int i = 0; i < 10; ++i) steps[static_cast<std::size_t>(i)].number = i;
        const std::vector<JobId> ids = scheduler.enqueue_many(steps, {.queue = "ordered"});
        scheduler.start();
        ASSERT_TRUE(halted.wait(1));
        EXPECT_EQ(queue, "ordered");
        EXPECT_EQ(why, "job " + std::to_string(ids[5]) + " is a dead letter");
        // What was claimed has gone back.
        EXPECT_TRUE(tests::eventually([&] { return scheduler.counts("ordered").running == 0; }));
        ASSERT_EQ(scheduler.queues().size(), 1U);
        EXPECT_EQ(scheduler.queues()[0].halted_by, ids[5]);
        EXPECT_EQ(scheduler.dead_letters(Filter::all()).letters.at(0).runbook, "call");

        broken = false;
        EXPECT_TRUE(scheduler.retry_job(ids[5]).done);
        EXPECT_TRUE(scheduler.resume_queue("ordered", {.by = "ops", .why = "mended"}));
        EXPECT_TRUE(reaches(scheduler, ids[9], State::succeeded));
        EXPECT_TRUE(reaches(scheduler, ids[5], State::succeeded));
        scheduler.stop();
        EXPECT_EQ(ran.size(), 10U);
    }
};

TEST_F(SystemQueues, halt_ordered_work_at_a_dead_letter) { halt_and_go_on(true); }
TEST_F(SystemQueues, halt_ordered_work_also_where_nobody_listens) { halt_and_go_on(false); }

TEST_F(SystemQueues, give_back_what_waits_here_when_paused_elsewhere) {
    Options setup = options();
    setup.queues = {{"default", 1}};
    Scheduler worker{setup};
    tests::Signal begun;
    std::latch go{1};
    worker.on<Step>([&](const Step& step) {
        begun.raise();
        if (step.number == 50) go.wait();
    });
    for (int i = 0; i < 60; ++i) (void)worker.enqueue(Step{i}).submit();
    worker.start();
    ASSERT_TRUE(begun.wait(51));
    Scheduler person{options()};
    EXPECT_TRUE(person.pause_queue("default", {.by = "ops", .why = "deploy"}));
    EXPECT_FALSE(person.pause_queue("default"));
    EXPECT_TRUE(tests::eventually([&] { return person.counts().running == 1 && person.counts().ready == 9; }));
    go.count_down();
    EXPECT_TRUE(tests::eventually([&] { return person.counts().running == 0; }));
    EXPECT_EQ(person.counts().ready, 9);
    EXPECT_TRUE(person.resume_queue("default"));
    EXPECT_TRUE(tests::eventually([&] { return person.counts().succeeded == 60; }));
    worker.stop();
}

TEST_F(SystemQueues, refuse_to_start_without_the_runbook_they_require) {  // P29
    Options setup = options();
    setup.queues = {{.name = "billing", .requires_runbook = true}};
    {
        Scheduler scheduler{setup};
        scheduler.on<Step>([](const Step&) {});
        try {
            scheduler.start();
            ADD_FAILURE() << "has started";
        } catch (const ConfigError& error) {
            EXPECT_EQ(error.field(), "queues[0].runbook");
            EXPECT_THAT(error.what(), ::testing::HasSubstr("queues.step"));
        }
    }
    {
        Scheduler scheduler{setup};
        scheduler.on<Step>([](const Step&) {}).with_runbook("https://wiki.example/steps");
        EXPECT_NO_THROW(scheduler.start());
        scheduler.stop();
    }
    setup.queues[0].runbook = "call the bank";
    Scheduler scheduler{setup};
    scheduler.on<Step>([](const Step&) {});
    EXPECT_NO_THROW(scheduler.start());
    scheduler.stop();
}

}  // namespace
}  // namespace pawl
