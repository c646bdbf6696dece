#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <pawl/circuit_breaker.hpp>
#include <pawl/control.hpp>
#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>

#include "support/heard.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Count;
using tests::Heard;
using tests::Nudge;

class CircuitBreakers : public tests::SystemTest {};
class RetryBudgets : public tests::SystemTest {};
class NonIdempotent : public tests::SystemTest {};
class Once : public tests::SystemTest {};

TEST_F(RetryBudgets, spread_the_retries_of_an_outage_over_both_nodes) {
    Options bounded = options();
    bounded.retry_budget = RetryBudget{.ratio = 0, .at_least = 10};
    bounded.heartbeat = 100ms;
    bounded.poll_floor = 50ms;
    const auto fail = [](const Count&) { throw TransientError("down"); };
    Scheduler first(bounded);
    first.on<Count>(fail).with_backoff(Backoff::fixed(1ms));
    Heard<JobRetrying> retrying(first);
    (void)first.enqueue_many(std::vector<Count>(30), {.max_retries = 1});
    first.start();
    ASSERT_TRUE(retrying.wait(30));
    // A minute's worth at once, which by now may have been run again; then one in six seconds.
    EXPECT_EQ(number("select count(*) from @schema@.attempt where rule = ':budget'"), 20);
    EXPECT_EQ(
        number("select count(distinct round(extract(epoch from delay))) from @schema@.attempt where rule = ':budget'"),
        20);
    EXPECT_EQ(number("select round(extract(epoch from max(delay)))::bigint from @schema@.attempt"), 120);

    // The other node hears of them, so that of its own first retry only a small part is within the budget.
    Scheduler second(bounded);
    second.on<Count>(fail).with_backoff(Backoff::fixed(1ms));
    ASSERT_TRUE(
        tests::eventually([&] { return number("select coalesce(max(retries), 0) from @schema@.retry_load") == 30; }));
    (void)first.stop();
    second.start();
    ASSERT_TRUE(tests::eventually([&] { return number("select count(*) from @schema@.retry_load") == 2; }));
    Heard<JobRetrying> elsewhere(second);
    (void)second.enqueue_many(std::vector<Count>(2), {.max_retries = 1});
    ASSERT_TRUE(elsewhere.wait(2));
    EXPECT_GE(number("select count(*) from @schema@.attempt where rule = ':budget'"), 21);
}

TEST_F(CircuitBreakers, open_put_jobs_back_uncounted_and_let_them_run_once_the_service_is_back) {
    Scheduler scheduler(options());
    auto gateway = scheduler.circuit_breaker(
        CircuitBreaker("gateway", {.window = 4, .minimum_calls = 2, .open_for = 300ms, .trials = 1}));
    std::atomic<bool> down{true};
    scheduler
        .on<Count>([&](const Count&) {
            if (down) throw TransientError("down");
        })
        .with_max_retries(20)
        .with_circuit_breaker("gateway");
    Heard<BreakerOpened> opened(scheduler);
    Heard<BreakerHalfOpen> half_open(scheduler);
    Heard<BreakerClosed> closed(scheduler);
    Heard<JobInterrupted> put_back(scheduler);
    Heard<JobSucceeded> done(scheduler);
    scheduler.enqueue_many({Count{1}, Count{2}});
    scheduler.start();
    ASSERT_TRUE(opened.wait());
    EXPECT_EQ(opened.all().front().service, "gateway");
    ASSERT_TRUE(put_back.wait());
    EXPECT_EQ(put_back.all().front().why, "the breaker of gateway is open");
    down = false;
    ASSERT_TRUE(done.wait(2));
    ASSERT_TRUE(closed.wait());
    EXPECT_GE(half_open.count(), 1U);
    EXPECT_EQ(gateway.state(), BreakerState::closed);
    EXPECT_EQ(number("select count(*) from @schema@.attempt where decision = 'release'"), 0);
}

TEST_F(CircuitBreakers, unknown_to_the_scheduler_are_refused_at_start) {
    Scheduler scheduler(options());
    scheduler.on<Nudge>([](const Nudge&) {}).with_circuit_breaker("gateway");
    EXPECT_THROW(scheduler.start(), ConfigError);
    static_cast<void>(scheduler.circuit_breaker(CircuitBreaker("gateway")));
    EXPECT_THROW(static_cast<void>(scheduler.circuit_breaker(CircuitBreaker("gateway"))), ConfigError);
    Scheduler other(options());
    const CircuitBreaker shared("shared");
    static_cast<void>(other.circuit_breaker(shared));
    EXPECT_THROW(static_cast<void>(scheduler.circuit_breaker(shared)), ConfigError);
    EXPECT_NO_THROW(scheduler.start());
    EXPECT_THROW(static_cast<void>(scheduler.circuit_breaker(CircuitBreaker("mail"))), ConfigError);
}

TEST_F(NonIdempotent, kinds_that_fail_wait_for_a_person) {
    Scheduler scheduler(options());
    std::atomic<int> runs{};
    scheduler
        .on<Nudge>([&](const Nudge&) {
            ++runs;
            throw TransientError("half done");
        })
        .non_idempotent();
    Heard<JobDlq> dead(scheduler);
    scheduler.enqueue(Nudge{}).submit();
    scheduler.start();
    ASSERT_TRUE(dead.wait());
    EXPECT_EQ(dead.all().front().reason, Reason::needs_person);
    EXPECT_EQ(runs, 1);
}

TEST_F(Once, a_step_survives_the_retry_of_its_job) {
    Scheduler scheduler(options());
    std::atomic<int> charged{};
    std::atomic<int> noted{};
    std::atomic<int> receipt{};
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
        receipt = context.once("charge", [&] { return ++charged + 41; });
        context.once("note", [&] { ++noted; });
        if (context.attempt() == 1) throw TransientError("after the charge");
    });
    Heard<JobSucceeded> done(scheduler);
    scheduler.enqueue(Nudge{}).submit();
    scheduler.start();
    ASSERT_TRUE(done.wait());
    EXPECT_EQ(charged, 1);
    EXPECT_EQ(noted, 1);
    EXPECT_EQ(receipt, 42);
}

TEST_F(Once, a_step_that_throws_was_not_done) {
    Scheduler scheduler(options());
    std::atomic<int> tried{};
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
        context.once("charge", [&] {
            if (++tried == 1) throw TransientError("busy");
        });
    });
    Heard<JobSucceeded> done(scheduler);
    scheduler.enqueue(Nudge{}).submit();
    scheduler.start();
    ASSERT_TRUE(done.wait());
    EXPECT_EQ(tried, 2);
}

TEST_F(Once, a_step_in_doubt_needs_a_person_or_an_answer) {
    Scheduler scheduler(options());
    std::atomic<int> charged{};
    std::atomic<int> asked{};
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) { context.once("charge", [&] { ++charged; }); });
    scheduler.on<Count>([&](const Count& job, JobContext& context) {
        return context.once(
            "charge", [&] { return ++charged; },
            [&](const StepInDoubt& doubt) -> std::optional<int> {
                EXPECT_EQ(doubt.begun_by(), 1'000'000);
                ++asked;
                return job.n == 1 ? std::optional(7) : std::nullopt;
            });
    });
    Heard<JobDlq> dead(scheduler);
    Heard<JobSucceeded> done(scheduler);
    const JobId silent = scheduler.enqueue(Nudge{}).submit().id();
    const JobId was_done = scheduler.enqueue(Count{1}).submit().id();
    const JobId was_not = scheduler.enqueue(Count{2}).submit().id();
    for (const JobId id : {silent, was_done, was_not}) {
        // What a run of a worker that died in the middle leaves behind.
        sql("insert into @schema@.step (id, name, token) values ($1, 'charge', 1000000)", store::pg::Params{}.add(id));
    }
    scheduler.start();
    ASSERT_TRUE(dead.wait());
    ASSERT_TRUE(done.wait(2));
    EXPECT_EQ(dead.all().front().id, silent);
    EXPECT_EQ(dead.all().front().reason, Reason::needs_person);
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(charged, 1);
    EXPECT_EQ(scheduler.find(was_done)->result, "7");
    EXPECT_EQ(scheduler.find(was_not)->result, "1");
}

TEST_F(Once, a_step_in_the_callers_transaction_is_done_with_it) {
    sql("create table @schema@.charged (job bigint)");
    Scheduler scheduler(options());
    const std::string charge = "insert into \"" + schema() + "\".charged values (1)";
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
        pqxx::connection connection(dsn());
        pqxx::work transaction(connection);
        context.once(transaction, "charge", [&] { transaction.exec(charge); });
        if (context.attempt() == 1) throw TransientError("before the commit");
        transaction.commit();
        if (context.attempt() == 2) throw TransientError("after the commit");
    });
    Heard<JobSucceeded> done(scheduler);
    scheduler.enqueue(Nudge{}).submit();
    scheduler.start();
    ASSERT_TRUE(done.wait());
    EXPECT_EQ(done.all().front().attempt, 3);
    EXPECT_EQ(number("select count(*) from @schema@.charged"), 1);
}

}  // namespace
