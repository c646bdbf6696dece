#include "worker/executor.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <pthread.h>

#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <pawl/control.hpp>
#include <pawl/job_context.hpp>

#include "failure/capture.hpp"
#include "support/captured_log.hpp"
#include "support/signal.hpp"
#include "unit/worker/claimed_job.hpp"

namespace {

using namespace std::chrono_literals;
using pawl::JobContext;
using pawl::detail::HandlerDone;
using pawl::detail::HandlerReply;
using pawl::model::Outcome;
using pawl::tests::CapturedLog;
using pawl::tests::started_run;
using pawl::worker::Executor;
using pawl::worker::RunLimits;
using pawl::worker::StopReason;
using pawl::worker::StopState;
namespace model = pawl::model;

using Handler = std::function<HandlerReply(JobContext&)>;

class FixedClock final : public pawl::Clock {
public:
    [[nodiscard]] pawl::Time now() const override { return pawl::Time{1000s}; }
};

class OneInvoker final : public pawl::detail::Invoker {
public:
    explicit OneInvoker(Handler handler, bool decodes = true) : handler_(std::move(handler)), decodes_(decodes) {}

    std::unique_ptr<pawl::detail::Invocation> decode(std::string_view) const override {
        if (!decodes_) throw pawl::PayloadError("not a job");
        class One final : public pawl::detail::Invocation {
        public:
            explicit One(const Handler& handler) : handler_(handler) {}
            HandlerReply run(JobContext& context) override { return handler_(context); }

        private:
            const Handler& handler_;
        };
        return std::make_unique<One>(handler_);
    }

private:
    Handler handler_;
    bool decodes_;
};

class ExecuteTest : public testing::Test {
protected:
    ExecuteTest() {
        const auto classification = std::make_shared<pawl::Classification>();
        watchdog->start();
        executor.emplace(Executor::Parts{
            .watchdog = watchdog,
            .failures = {.capture =
                             [classification](std::exception_ptr thrown, std::shared_ptr<const model::ClaimedJob> job,
                                              std::optional<pawl::Time> started, pawl::Time failed) {
                                 return pawl::failure::capture(std::move(thrown), std::move(job), {started, failed},
                                                               *classification);
                             },
                         .timed_out = pawl::failure::timed_out,
                         .thread_exited = pawl::failure::thread_exited},
            .clock = std::make_shared<FixedClock>(),
            .logger = captured.log()->logger(),
            .max_result = 10});
    }

    Outcome execute(Handler handler, const RunLimits& limits = {}) {
        return executor->execute(OneInvoker{std::move(handler)}, run, limits, [](const Outcome&) { ADD_FAILURE(); });
    }

    CapturedLog captured;
    std::shared_ptr<pawl::worker::Watchdog> watchdog =
        std::make_shared<pawl::worker::Watchdog>(pawl::worker::Watchdog::Options{}, captured.log());
    std::optional<Executor> executor;
    std::shared_ptr<StopState> run = started_run(42);
};

template <class What>
const What& as(const Outcome& outcome) {
    const auto* what = std::get_if<What>(&outcome.what);
    if (what == nullptr) throw std::logic_error("another outcome: " + std::to_string(outcome.what.index()));
    return *what;
}

HandlerReply done(JobContext&) { return HandlerDone{}; }

TEST_F(ExecuteTest, is_done_when_the_handler_returns) {
    const auto outcome = execute([](JobContext&) -> HandlerReply { return HandlerDone{"[1]", {}}; });
    EXPECT_EQ(as<model::Done>(outcome).result, "[1]");
    EXPECT_EQ(outcome.started_at, pawl::Time{1000s});
    EXPECT_FALSE(as<model::Done>(execute(done)).result);
}

TEST_F(ExecuteTest, notes_the_size_of_a_result_that_is_too_large) {
    const auto of_size = [](std::size_t size) {
        return [size](JobContext&) -> HandlerReply { return HandlerDone{std::string(size, '1'), {}}; };
    };
    EXPECT_EQ(as<model::Done>(execute(of_size(10))).result, "1111111111");
    EXPECT_EQ(as<model::Done>(execute(of_size(11))).result, R"({"pawl":"result too large","bytes":11})");
}

TEST_F(ExecuteTest, takes_what_a_handler_says_of_itself) {
    EXPECT_EQ(as<model::SaidSnooze>(execute([](auto&) -> HandlerReply { return pawl::Snooze{5s}; })).delay,
              pawl::Duration{5s});
    EXPECT_EQ(as<model::SaidSnooze>(execute([](auto&) -> HandlerReply { throw pawl::Snooze{5s}; })).delay,
              pawl::Duration{5s});
    EXPECT_EQ(as<model::SaidCancel>(execute([](auto&) -> HandlerReply { return pawl::Cancel{"no"}; })).reason, "no");
    EXPECT_EQ(as<model::SaidCancel>(execute([](auto&) -> HandlerReply { throw pawl::Cancel{"no"}; })).reason, "no");
    EXPECT_EQ(as<model::SaidDiscard>(execute([](auto&) -> HandlerReply { throw pawl::Discard{"old"}; })).reason, "old");
    const auto retry = execute([](auto&) -> HandlerReply {
        throw pawl::RetryAfter{.delay = 7s, .queue = "slow", .priority = pawl::Priority::low};
    });
    EXPECT_EQ(as<model::SaidRetryAfter>(retry).delay, pawl::Duration{7s});
    EXPECT_EQ(as<model::SaidRetryAfter>(retry).queue, "slow");
    EXPECT_EQ(as<model::SaidRetryAfter>(retry).priority, pawl::Priority::low);
    EXPECT_TRUE(
        as<model::SaidWorkerFatal>(execute([](auto&) -> HandlerReply { throw pawl::WorkerFatal{"disk"}; })).failure);
}

TEST_F(ExecuteTest, captures_whatever_a_handler_throws) {
    const auto outcome = execute([](auto&) -> HandlerReply { throw std::runtime_error("broken"); });
    EXPECT_EQ(as<model::Threw>(outcome).failure->type(), "std::runtime_error");
    EXPECT_EQ(as<model::Threw>(outcome).failure->message(), "broken");
    EXPECT_EQ(as<model::Threw>(execute([](auto&) -> HandlerReply { throw 42; })).failure->type(), "int");
}

TEST_F(ExecuteTest, fails_before_the_handler_on_a_payload_that_cannot_be_decoded) {
    const OneInvoker handler{[](JobContext&) -> HandlerReply {
                                 ADD_FAILURE();
                                 return HandlerDone{};
                             },
                             false};
    const auto outcome = executor->execute(handler, run, {}, nullptr);
    EXPECT_EQ(as<model::Undecodable>(outcome).failure->type(), "pawl::PayloadError");
    EXPECT_FALSE(as<model::Undecodable>(outcome).failure->started_at());
}

// What a handler did when its stop had been requested, by reason.
enum class Did : unsigned char { returned, threw, snoozed, gave_up };

HandlerReply act(Did did, JobContext& context) {
    switch (did) {
        case Did::returned:
            break;
        case Did::threw:
            throw std::runtime_error("broken");
        case Did::snoozed:
            throw pawl::Snooze{1s};
        case Did::gave_up:
            context.throw_if_stopped();
    }
    return HandlerDone{};
}

// T21
TEST_F(ExecuteTest, judges_a_stopped_handler_by_reason_and_by_what_it_did) {
    struct Row {
        StopReason reason;
        Did did;
        std::size_t outcome;
    };
    const auto is_done = Outcome{model::Done{}}.what.index();
    const auto threw = Outcome{model::Threw{}}.what.index();
    const auto snoozed = Outcome{model::SaidSnooze{}}.what.index();
    const auto timed_out = Outcome{model::TimedOutRun{}}.what.index();
    const auto interrupted = Outcome{model::InterruptedRun{}}.what.index();
    using enum StopReason;
    const Row table[] = {{none, Did::returned, is_done},        {none, Did::threw, threw},
                         {none, Did::snoozed, snoozed},         {none, Did::gave_up, is_done},
                         {hard_limit, Did::returned, is_done},  {hard_limit, Did::threw, timed_out},
                         {hard_limit, Did::snoozed, timed_out}, {hard_limit, Did::gave_up, timed_out},
                         {stopping, Did::returned, is_done},    {stopping, Did::threw, interrupted},
                         {stopping, Did::snoozed, interrupted}, {stopping, Did::gave_up, interrupted},
                         {canceled, Did::returned, is_done},    {canceled, Did::threw, interrupted},
                         {canceled, Did::snoozed, interrupted}, {canceled, Did::gave_up, interrupted},
                         {fenced, Did::returned, is_done},      {fenced, Did::threw, interrupted},
                         {fenced, Did::snoozed, interrupted},   {fenced, Did::gave_up, interrupted}};
    for (const auto& row : table) {
        run = started_run(42);
        const auto outcome = execute(
            [&](JobContext& context) {
                run->request_stop(row.reason);
                return act(row.did, context);
            },
            {.timeout = 1h});
        EXPECT_EQ(outcome.what.index(), row.outcome)
            << "reason " << static_cast<int>(row.reason) << ", did " << static_cast<int>(row.did);
    }
}

TEST_F(ExecuteTest, keeps_what_a_timed_out_handler_threw_as_the_cause) {
    const auto outcome = execute(
        [&](JobContext& context) {
            run->request_stop(StopReason::hard_limit);
            return act(Did::threw, context);
        },
        {.timeout = 1h});
    const auto& failure = *as<model::TimedOutRun>(outcome).failure;
    EXPECT_TRUE(failure.is<pawl::TimedOut>());
    ASSERT_EQ(failure.causes(), 1u);
    EXPECT_EQ(failure.cause(0).message(), "broken");
}

// T22
TEST_F(ExecuteTest, takes_an_interruption_of_another_run_as_an_error) {
    const auto outcome = execute([&](JobContext& context) -> HandlerReply {
        throw pawl::Interrupted{context.claim_token(), context.id() + 1};
    });
    EXPECT_EQ(as<model::Threw>(outcome).failure->type(), "pawl::Interrupted");
}

TEST_F(ExecuteTest, stops_a_run_at_its_hard_limit) {
    const auto outcome = execute(
        [&](JobContext& context) -> HandlerReply {
            pawl::tests::Signal stopped;
            const std::stop_callback on_stop{context.stop_token(), [&] { stopped.raise(); }};
            EXPECT_TRUE(stopped.wait());
            EXPECT_EQ(context.remaining(), 0us);
            EXPECT_EQ(context.connection_options(), "options='-c statement_timeout=1'");
            context.throw_if_stopped();
            return HandlerDone{};
        },
        {.timeout = 2ms});
    EXPECT_EQ(as<model::TimedOutRun>(outcome).failure->type(), "pawl::TimedOut");
}

TEST_F(ExecuteTest, hands_over_the_outcome_of_a_handler_that_ends_its_thread) {
    std::optional<Outcome> exited;
    bool returned = false;
    std::thread thread([&] {
        const OneInvoker handler{[](JobContext&) -> HandlerReply { pthread_exit(nullptr); }};
        static_cast<void>(executor->execute(handler, run, {}, [&](Outcome outcome) { exited = std::move(outcome); }));
        returned = true;
    });
    thread.join();
    EXPECT_FALSE(returned);
    ASSERT_TRUE(exited);
    EXPECT_EQ(as<model::Threw>(*exited).failure->type(), "pawl::ThreadExited");
}

TEST_F(ExecuteTest, describes_a_run_that_does_not_come_back) {
    const auto outcome = executor->overdue(*run, {.timeout = 30s});
    EXPECT_TRUE(as<model::TimedOutRun>(outcome).failure->is<pawl::TimedOut>());
    EXPECT_TRUE(outcome.started_at);
}

TEST_F(ExecuteTest, shows_the_job_to_its_handler) {
    auto job = pawl::tests::claimed_job(42, "mail");
    job->facts.attempts = 2;
    job->params = {{"region", "eu"}};
    job->tags = {"payment"};
    job->run_at = pawl::Time{5s};
    run = std::make_shared<StopState>(job, std::chrono::steady_clock::now());
    const auto outcome = execute(
        [&](JobContext& context) -> HandlerReply {
            EXPECT_EQ(context.id(), 42);
            EXPECT_EQ(context.kind(), "test.kind");
            EXPECT_EQ(context.queue(), "mail");
            EXPECT_EQ(context.attempt(), 3);
            EXPECT_EQ(context.max_retries(), 4);
            EXPECT_EQ(context.param("region"), "eu");
            EXPECT_FALSE(context.param("zone"));
            EXPECT_EQ(context.tags(), std::vector<std::string>{"payment"});
            EXPECT_EQ(context.run_at(), pawl::Time{5s});
            EXPECT_EQ(context.started_at(), pawl::Time{1000s});
            EXPECT_EQ(context.claim_token(), 900);
            EXPECT_EQ(&context.logger(), captured.log()->logger().get());
            EXPECT_FALSE(context.deadline());
            EXPECT_FALSE(context.remaining());
            EXPECT_TRUE(context.connection_options().empty());
            EXPECT_NO_THROW(context.throw_if_stopped());
            return HandlerDone{};
        },
        {.max_retries = 4});
    EXPECT_TRUE(std::holds_alternative<model::Done>(outcome.what));
}

TEST_F(ExecuteTest, gives_a_limited_run_its_deadline) {
    static_cast<void>(execute(
        [&](JobContext& context) -> HandlerReply {
            EXPECT_EQ(context.deadline(), run->started() + 1h);
            EXPECT_GT(context.remaining(), 50min);
            EXPECT_TRUE(context.connection_options().starts_with("options='-c statement_timeout=3"));
            return HandlerDone{};
        },
        {.timeout = 1h}));
}

}  // namespace
