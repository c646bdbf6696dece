#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/options.hpp>

#include "support/processes.hpp"
#include "support/system.hpp"

// Worker processes with a heartbeat of 0.3 s and an expiry of 1.5 s.

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using std::chrono::steady_clock;
using tests::Count;
using tests::Note;
using tests::Worker;

constexpr auto within = 15s;

class TwoProcesses : public tests::SystemTest {
protected:
    void SetUp() override {
        SystemTest::SetUp();
        sql("create table @schema@.ledger (id bigint, pid bigint, token bigint, at timestamptz default "
            "clock_timestamp())");
        Options producer = options();
        producer.queues.clear();
        scheduler_ = std::make_unique<Scheduler>(producer);
    }
    void TearDown() override {
        scheduler_.reset();
        SystemTest::TearDown();
    }

    [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
    [[nodiscard]] Worker worker(const std::vector<std::string>& arguments = {}) { return {dsn(), schema(), arguments}; }

    /// Polls a query until it gives this number.
    [[nodiscard]] bool becomes(std::string_view query, std::int64_t wanted, std::chrono::seconds bound) {
        const auto until = steady_clock::now() + bound;
        while (number(query) != wanted) {
            if (steady_clock::now() > until) return false;
        }
        return true;
    }

private:
    std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(TwoProcesses, ten_thousand_jobs_survive_the_death_of_one) {  // B016, B056, B057
    constexpr int total = 10'000;
    std::vector<Count> jobs(total);
    (void)scheduler().enqueue_many(jobs);
    Worker first = worker();
    Worker second = worker();
    ASSERT_TRUE(tests::eventually([&] { return number("select count(distinct pid) from @schema@.ledger") == 2; }));
    ASSERT_TRUE(tests::eventually([&] { return number("select count(*) from @schema@.done") >= 1000; }));
    first.signal(SIGKILL);
    EXPECT_EQ(first.wait(), -SIGKILL);
    const std::int64_t at_death = number("select count(*) from @schema@.done");
    EXPECT_LT(at_death, total);

    EXPECT_TRUE(becomes("select count(*) from @schema@.done", total, 60s));
    EXPECT_EQ(number("select count(*) from @schema@.done where state <> 'succeeded'"), 0);
    EXPECT_EQ(number("select count(distinct id) from @schema@.ledger"), total);
    // Run twice: at most what the four threads of the dead one had under way, and what it had not yet written: a full
    // queue of outcomes, and the batch of 512 that was on its way.
    EXPECT_LE(number("select count(*) from @schema@.ledger"), total + 4 + 2048 + 512);
    EXPECT_EQ(number("select count(*) from @schema@.verify()"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
    second.signal(SIGTERM);
    EXPECT_EQ(second.wait(), 0);
}

TEST_F(TwoProcesses, a_job_whose_process_was_killed_runs_elsewhere_and_says_so) {  // B016, B057
    Worker first = worker();
    ASSERT_EQ(first.line(), "started");
    const JobId id = scheduler().enqueue(Note{"hold"}).submit().id();
    ASSERT_EQ(first.line(), "holding");
    Worker second = worker();
    ASSERT_EQ(second.line(), "started");
    first.signal(SIGKILL);
    first.wait();
    const auto killed = steady_clock::now();
    ASSERT_EQ(second.line(), "holding");
    // The expiry, one round of looking, and what a busy machine adds.
    EXPECT_LT(steady_clock::now() - killed, 1500ms + 500ms + 4s);
    second.let_go();
    EXPECT_TRUE(second.says("succeeded"));
    EXPECT_EQ(scheduler().find(id)->state, State::succeeded);
    EXPECT_EQ(number("select count(*) from @schema@.ledger"), 2);
    EXPECT_EQ(
        number("select count(*) from @schema@.attempt where type like '%WorkerLost' and message like 'node%was lost%'"),
        1);
    EXPECT_EQ(number("select count(*) from @schema@.node where state = 'dead'"), 1);
}

TEST_F(TwoProcesses, a_process_started_anew_finds_what_its_former_self_held) {  // B072
    Worker first = worker();
    ASSERT_EQ(first.line(), "started");
    const JobId id = scheduler().enqueue(Note{"hold"}).submit().id();
    ASSERT_EQ(first.line(), "holding");
    first.signal(SIGKILL);
    first.wait();
    Worker again = worker();
    ASSERT_EQ(again.line(), "started");
    ASSERT_EQ(again.line(), "holding");
    again.let_go();
    EXPECT_TRUE(again.says("succeeded"));
    EXPECT_EQ(scheduler().find(id)->state, State::succeeded);
}

TEST_F(TwoProcesses, one_that_was_suspended_beyond_its_expiry_cannot_give_a_second_verdict) {  // B069
    Worker first = worker();
    ASSERT_EQ(first.line(), "started");
    const JobId id = scheduler().enqueue(Note{"hold"}).submit().id();
    ASSERT_EQ(first.line(), "holding");
    Worker second = worker();
    ASSERT_EQ(second.line(), "started");
    first.signal(SIGSTOP);
    ASSERT_EQ(second.line(), "holding");
    second.let_go();
    EXPECT_TRUE(second.says("succeeded"));
    const auto verdict = scheduler().find(id);
    ASSERT_EQ(verdict->state, State::succeeded);

    first.let_go();
    first.signal(SIGCONT);
    EXPECT_TRUE(first.says("stale"));
    const auto after = scheduler().find(id);
    EXPECT_EQ(after->state, State::succeeded);
    EXPECT_EQ(after->finished_at, verdict->finished_at);
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 1);
    EXPECT_EQ(number("select count(distinct token) from @schema@.ledger"), 2);

    // It has registered anew and works.
    second.signal(SIGTERM);
    EXPECT_EQ(second.wait(), 0);
    (void)scheduler().enqueue(Count{1}).submit();
    EXPECT_TRUE(becomes("select count(*) from @schema@.done", 2, within));
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait(), 0);
}

TEST_F(TwoProcesses, a_clean_stop_costs_no_attempt) {  // B013
    Worker first = worker();
    ASSERT_EQ(first.line(), "started");
    const JobId id = scheduler().enqueue(Note{"hold"}).with_max_retries(0).submit().id();
    ASSERT_EQ(first.line(), "holding");
    first.let_go();
    ASSERT_TRUE(first.says("succeeded"));
    EXPECT_EQ(scheduler().find(id)->state, State::succeeded);
    std::vector<Count> jobs(500);
    (void)scheduler().enqueue_many(jobs, {.max_retries = 0});
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.ready where attempts > 0 or crashes > 0"), 0);
    const std::int64_t ran = number("select count(*) from @schema@.ledger");
    EXPECT_EQ(number("select count(*) from @schema@.done"), ran);

    Worker second = worker();
    EXPECT_TRUE(becomes("select count(*) from @schema@.done where state = 'succeeded'", 501, within));
    EXPECT_EQ(number("select count(*) from @schema@.ledger"), 501);
}

TEST_F(TwoProcesses, a_job_that_kills_its_process_ends_among_the_dead_letters) {  // B011
    const std::vector<std::string> budget{"--crash-budget=1"};
    const JobId id = scheduler().enqueue(Note{"kill"}).submit().id();
    for (int i = 0; i < 2; ++i) {
        Worker victim = worker(budget);
        EXPECT_EQ(victim.wait(), -SIGKILL);
    }
    Worker survivor = worker(budget);
    EXPECT_TRUE(becomes("select count(*) from @schema@.done", 1, within));
    const auto job = scheduler().find(id);
    EXPECT_EQ(job->state, State::failed);
    EXPECT_EQ(job->reason, Reason::worker_lost);
    EXPECT_EQ(number("select count(*) from @schema@.ledger"), 2);
    survivor.signal(SIGTERM);
    EXPECT_EQ(survivor.wait(), 0);
}

// B052, B056
// The first two deaths are in company; then each of the four is run alone, and the one that does it is charged.
TEST_F(TwoProcesses, a_job_that_kills_its_process_is_found_among_bystanders_who_are_not_charged) {
    const std::vector<std::string> budget{"--crash-budget=1"};
    const std::vector<Note> bystanders(3, Note{"hold"});
    (void)scheduler().enqueue_many(bystanders);
    const JobId id = scheduler().enqueue(Note{"kill"}).submit().id();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(worker(budget).wait(), -SIGKILL);
    {
        Worker third = worker(budget);
        for (int i = 0; i < 3; ++i) third.let_go();
        EXPECT_EQ(third.wait(), -SIGKILL);
    }
    EXPECT_EQ(number("select count(*) from @schema@.done where state = 'succeeded'"), 3);
    EXPECT_EQ(worker(budget).wait(), -SIGKILL);
    Worker survivor = worker(budget);
    EXPECT_TRUE(becomes("select count(*) from @schema@.done", 4, within));
    EXPECT_EQ(scheduler().find(id)->reason, Reason::worker_lost);
    EXPECT_EQ(number("select count(*) from @schema@.done where state = 'succeeded'"), 3);
    EXPECT_EQ(number("select sum(attempts) from @schema@.done"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.attempt where decision = 'retry_at'"), 1);
}

TEST_F(TwoProcesses, a_step_during_which_its_process_was_killed_is_in_doubt_and_one_before_it_is_not_done_again) {
    const JobId in_step = scheduler().enqueue(Note{"kill in a step"}).submit().id();
    EXPECT_EQ(worker().wait(), -SIGKILL);
    const JobId after_step = scheduler().enqueue(Note{"kill after a step"}).submit().id();
    EXPECT_EQ(worker().wait(), -SIGKILL);
    Worker survivor = worker();
    EXPECT_TRUE(becomes("select count(*) from @schema@.done", 2, within));
    EXPECT_EQ(scheduler().find(in_step)->reason, Reason::needs_person);
    EXPECT_EQ(scheduler().find(after_step)->state, State::succeeded);
    EXPECT_EQ(number("select count(*) from @schema@.step"), 2);
    EXPECT_EQ(number("select count(*) from @schema@.step where finished_at is null"), 1);
}

TEST_F(TwoProcesses, a_job_that_must_not_run_twice_is_left_to_a_person_when_its_process_was_killed) {
    const JobId id = scheduler().enqueue(tests::Charge{1}).submit().id();
    {
        Worker victim = worker();
        ASSERT_TRUE(victim.says("charging"));
        victim.signal(SIGKILL);
        victim.wait();
    }
    // One that does not know the kind decides about it too.
    Options fast = options();
    fast.heartbeat = 300ms;
    fast.node_expiry = 1500ms;
    Scheduler survivor(fast);
    survivor.on<Count>([](const Count&) {});
    survivor.start();
    EXPECT_TRUE(becomes("select count(*) from @schema@.done", 1, within));
    EXPECT_EQ(scheduler().find(id)->reason, Reason::needs_person);
    EXPECT_EQ(number("select count(*) from @schema@.ledger"), 1);
}

}  // namespace
