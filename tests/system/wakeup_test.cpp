#include <chrono>
#include <vector>

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <pawl/events.hpp>

#include "support/heard.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using std::chrono::steady_clock;
using tests::Count;
using tests::Heard;

class Wakeup : public tests::SystemTest {
protected:
    /// Looks by itself so seldom that what comes soon was told.
    [[nodiscard]] Options idle() const {
        Options idle = options();
        idle.poll_floor = 30s;
        return idle;
    }
    [[nodiscard]] Options producer() const {
        Options producer = options();
        producer.queues.clear();
        return producer;
    }
    /// Until a node has said that it sleeps in its queue and in the promotion of scheduled jobs.
    [[nodiscard]] bool asleep() {
        return tests::eventually([&] { return number("select count(*) from @schema@.waiting") == 2; });
    }
};

TEST_F(Wakeup, a_sleeping_scheduler_is_told_of_each_new_job) {
    Scheduler scheduler(idle());
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    Scheduler other(producer());
    for (std::size_t i = 1; i <= 20; ++i) {
        ASSERT_TRUE(asleep());
        const auto enqueued = steady_clock::now();
        (void)other.enqueue(Count{1}).submit();
        ASSERT_TRUE(succeeded.wait(i));
        EXPECT_LT(steady_clock::now() - enqueued, 2s);
    }
}

TEST_F(Wakeup, so_it_is_by_a_commit_long_after_it_fell_asleep) {
    Scheduler scheduler(idle());
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    Scheduler other(producer());
    pqxx::connection connection{dsn()};
    pqxx::work transaction{connection};
    (void)other.enqueue(Count{1}).submit(transaction);
    scheduler.start();
    ASSERT_TRUE(asleep());
    const auto committed = steady_clock::now();
    transaction.commit();
    ASSERT_TRUE(succeeded.wait());
    EXPECT_LT(steady_clock::now() - committed, 2s);
}

// B085: a server that restarts after a crash has forgotten who sleeps.
TEST_F(Wakeup, a_new_listening_connection_says_anew_who_sleeps) {
    Scheduler scheduler(idle());
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    ASSERT_TRUE(asleep());
    (void)sql("truncate @schema@.waiting");
    (void)sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pawl listener'");
    ASSERT_TRUE(asleep());
    const auto enqueued = steady_clock::now();
    (void)Scheduler(producer()).enqueue(Count{1}).submit();
    ASSERT_TRUE(succeeded.wait());
    EXPECT_LT(steady_clock::now() - enqueued, 2s);
}

TEST_F(Wakeup, a_delayed_job_wakes_it_at_its_time) {
    Scheduler scheduler(idle());
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    ASSERT_TRUE(asleep());
    Scheduler other(producer());
    (void)other.enqueue(Count{1}).with_delay(1h).submit();
    const auto enqueued = steady_clock::now();
    (void)other.enqueue(Count{2}).with_delay(500ms).submit();
    ASSERT_TRUE(succeeded.wait());
    EXPECT_GE(steady_clock::now() - enqueued, 500ms);
    EXPECT_LT(steady_clock::now() - enqueued, 3s);
    EXPECT_EQ(scheduler.counts().scheduled, 1);
}

TEST_F(Wakeup, without_listening_it_polls) {
    Options polling = options();
    polling.listen = false;
    polling.poll_floor = 50ms;
    Scheduler scheduler(polling);
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    EXPECT_EQ(number("select count(*) from pg_stat_activity where application_name = 'pawl listener'"), 0);
    (void)scheduler.enqueue(Count{1}).submit();
    (void)scheduler.enqueue(Count{2}).with_delay(100ms).submit();
    EXPECT_TRUE(succeeded.wait(2));
}

TEST_F(Wakeup, jobs_enqueued_by_sql_are_told_as_well) {
    Scheduler scheduler(idle());
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    ASSERT_TRUE(asleep());
    (void)number(R"(select @schema@.enqueue('count', '{"n":1}'))");
    EXPECT_TRUE(succeeded.wait(1, 3s));
}

}  // namespace
