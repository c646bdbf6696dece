#include <atomic>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/events.hpp>
#include <pawl/health.hpp>
#include <pawl/job_context.hpp>

#include "support/heard.hpp"
#include "support/signal.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Count;
using tests::Heard;
using tests::Signal;

class HealthOf : public tests::SystemTest {
protected:
    [[nodiscard]] Options quick() {
        Options quick = options();
        quick.heartbeat = 100ms;
        quick.on_unhealthy = [this](const Health& health) {
            last_live_ = health.live;
            unhealthy.raise();
        };
        return quick;
    }
    [[nodiscard]] static bool becomes_well(Scheduler& scheduler) {
        return tests::eventually([&] { return scheduler.health().problems.empty(); });
    }
    [[nodiscard]] static bool becomes(Scheduler& scheduler, HealthReason reason) {
        return tests::eventually([&] { return scheduler.health().has(reason); });
    }

    Signal unhealthy;
    std::atomic<bool> last_live_{true};
};

TEST_F(HealthOf, a_scheduler_is_ready_between_start_and_stop) {
    Scheduler scheduler(quick());
    scheduler.on<Count>([](const Count&) {});
    EXPECT_TRUE(scheduler.health().live);
    EXPECT_FALSE(scheduler.health().ready);
    scheduler.start();
    EXPECT_TRUE(scheduler.health().ready);
    EXPECT_TRUE(scheduler.health().problems.empty());
    (void)scheduler.stop();
    EXPECT_FALSE(scheduler.health().ready);
    EXPECT_TRUE(scheduler.health().live);
    EXPECT_TRUE(scheduler.health().has(HealthReason::stopping));
    EXPECT_EQ(unhealthy.raised(), 0);
}

TEST_F(HealthOf, one_whose_database_lets_nobody_in_is_not_ready_until_it_does) {
    Scheduler scheduler(quick());
    scheduler.on<Count>([](const Count&) {});
    Heard<HealthChanged> changed(scheduler);
    scheduler.start();
    // This session stays.
    sql("update pg_database set datallowconn = false where datname = current_database()");
    sql("select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like 'pawl %' and pid <> "
        "pg_backend_pid() and datname = current_database()");
    EXPECT_TRUE(becomes(scheduler, HealthReason::database_unreachable));
    const Health health = scheduler.health();
    EXPECT_FALSE(health.ready);
    EXPECT_TRUE(health.live);
    EXPECT_TRUE(unhealthy.wait());
    EXPECT_TRUE(last_live_);
    sql("update pg_database set datallowconn = true where datname = current_database()");
    EXPECT_TRUE(becomes_well(scheduler));
    EXPECT_TRUE(changed.wait(2));
    EXPECT_EQ(unhealthy.raised(), 1);
    const JobId id = scheduler.enqueue(Count{1}).submit().id();
    EXPECT_TRUE(reaches(scheduler, id, State::succeeded));
}

// B198
TEST_F(HealthOf, one_whose_tables_were_taken_away_says_that_the_schema_does_not_fit) {
    Scheduler scheduler(quick());
    scheduler.on<Count>([](const Count&) {});
    scheduler.start();
    sql("alter table @schema@.queue rename to elsewhere");
    (void)tests::eventually([&] {
        sql("select pg_notify(@schema@.channel(), 'ready 1')");
        return scheduler.health().has(HealthReason::schema_mismatch);
    });
    EXPECT_TRUE(becomes(scheduler, HealthReason::not_claiming));
    EXPECT_FALSE(scheduler.health().ready);
    sql("alter table @schema@.elsewhere rename to queue");
    EXPECT_TRUE(becomes_well(scheduler));
}

TEST_F(HealthOf, one_without_its_listener_is_degraded_and_ready) {
    Options slow = quick();
    slow.reconnect = {.first = 2s, .longest = 2s};
    Scheduler scheduler(slow);
    scheduler.on<Count>([](const Count&) {});
    scheduler.start();
    EXPECT_TRUE(tests::eventually([&] {
        sql("select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'pawl listener'");
        return scheduler.health().has(HealthReason::listener_lost);
    }));
    EXPECT_TRUE(scheduler.health().ready);
    EXPECT_TRUE(becomes_well(scheduler));
    EXPECT_EQ(unhealthy.raised(), 0);
}

TEST_F(HealthOf, one_with_a_halted_queue_is_degraded_until_it_is_resumed) {
    Options halting = quick();
    halting.queues = {{.name = "default", .concurrency = 2, .on_dead_letter = DeadLetterAction::pause_queue}};
    halting.poll_floor = 50ms;
    Scheduler scheduler(halting);
    scheduler.on<Count>([](const Count&) { throw PermanentError("bad"); });
    scheduler.start();
    (void)scheduler.enqueue(Count{1}).submit();
    EXPECT_TRUE(becomes(scheduler, HealthReason::queue_halted));
    EXPECT_TRUE(scheduler.health().ready);
    EXPECT_NE(scheduler.health().problems.at(0).text.find("default"), std::string::npos);
    EXPECT_TRUE(scheduler.resume_queue("default"));
    EXPECT_TRUE(becomes_well(scheduler));
    EXPECT_EQ(unhealthy.raised(), 0);
}

TEST_F(HealthOf, one_that_lost_its_slots_to_handlers_that_hang_needs_a_new_process) {
    Options few = quick();
    few.queues = {{"default", 2}};
    few.max_abandoned_threads = 0;
    few.timeout_grace = 10ms;
    Scheduler scheduler(few);
    Signal let_go;
    scheduler.on<Count>([&](const Count&) { (void)let_go.wait(); }).with_timeout(50ms);
    scheduler.start();
    (void)scheduler.enqueue(Count{1}).with_max_retries(0).submit();
    EXPECT_TRUE(becomes(scheduler, HealthReason::threads_abandoned));
    EXPECT_FALSE(scheduler.health().live);
    EXPECT_TRUE(unhealthy.wait());
    EXPECT_FALSE(last_live_);
    let_go.raise();
    EXPECT_TRUE(becomes_well(scheduler));
}

TEST_F(HealthOf, one_that_stopped_without_a_handler_tells_the_host) {
    Scheduler scheduler(quick());
    Signal begun;
    Signal let_go;
    scheduler.on<Count>([&](const Count&) {
        begun.raise();
        (void)let_go.wait();
    });
    scheduler.start();
    (void)scheduler.enqueue(Count{1}).submit();
    ASSERT_TRUE(begun.wait());
    const StopReport report = scheduler.stop(0s, 0s);
    EXPECT_EQ(report.still_running.size(), 1U);
    EXPECT_TRUE(unhealthy.wait());
    EXPECT_FALSE(last_live_);
    EXPECT_FALSE(scheduler.health().live);
    let_go.raise();
}

}  // namespace
