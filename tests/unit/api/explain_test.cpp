#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <pawl/control.hpp>
#include <pawl/do_not_retry.hpp>
#include <pawl/errors.hpp>
#include <pawl/json.hpp>
#include <pawl/retry_policy.hpp>
#include <pawl/scheduler.hpp>

#include "support/jobs.hpp"

namespace pawl::tests {
struct Declined : std::runtime_error {
    using runtime_error::runtime_error;
};
}  // namespace pawl::tests
template <>
struct pawl::DoNotRetry<pawl::tests::Declined> : pawl::permanent<pawl::tests::Declined, "declined by the issuer"> {};

namespace pawl {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::Count;
using tests::Declined;
using tests::Note;

struct Busy : std::runtime_error {
    using runtime_error::runtime_error;
};
struct Gone : std::runtime_error {
    using runtime_error::runtime_error;
};
struct Broken {};

class NeverAgain final : public RetryPolicy {
public:
    bool should_retry(int, const Failure& failure) const override { return failure.message() != "never"; }
    Duration delay(int, const Failure&) const override { return {}; }
};

class Explaining : public ::testing::Test {
protected:
    static Options options() {
        Options options;
        options.backoff = Backoff::fixed(7s).jittered(Jitter::none());
        options.logger = std::make_shared<spdlog::logger>("silent");
        options.retry_policy = std::make_shared<NeverAgain>();
        options.classification.classify_as_fatal<Broken>();
        return options;
    }

    Explaining() : scheduler(options()) {
        scheduler.on<Count>([](const Count&) {})
            .retry_on<Busy>({.attempts = 3, .wait = 5s, .jitter = 0, .queue = "slow", .key = "busy"})
            .discard_on<Gone>([this](const Failure&) { ++called; })
            .after_discard([this](const Failure&) { ++called; })
            .on_exhausted([this](const Failure&) { ++called; });
        scheduler.on<Note>([](const Note&) {})
            .after_discard([this](const Failure&) { ++called; })
            .on_exhausted([this](const Failure&) { ++called; })
            .retry_with([](const Failure& failure) -> std::optional<RetryPlan> {
                if (failure.message() == "planned") return RetryPlan{.retries = 1, .delays = {11s}};
                if (failure.message() == "unplanned") throw 7;
                return std::nullopt;
            });
    }

    int called = 0;
    Scheduler scheduler;
};

struct Case {
    const char* name;
    std::exception_ptr error;
    ExplainOptions options;
    const char* row;
    State becomes;
    Reason reason;
    bool counted;
};

template <class E>
std::exception_ptr thrown(E error) {
    return std::make_exception_ptr(std::move(error));
}

TEST_F(Explaining, names_the_row_that_decides) {
    const std::runtime_error plain("plain");
    const std::vector<Case> cases{
        {"snooze", thrown(Snooze{3s}), {}, "1 said", State::pending, Reason::none, false},
        {"cancel", thrown(Cancel{"no"}), {}, "1 said", State::canceled, Reason::none, false},
        {"discard", thrown(Discard{"no"}), {}, "1 said", State::failed, Reason::discarded, false},
        {"worker fatal", thrown(WorkerFatal{"no"}), {}, "1 said", State::pending, Reason::none, false},
        {"retry after", thrown(RetryAfter{3s}), {}, "10 retry_after_delay", State::pending, Reason::none, true},
        {"retry after the last",
         thrown(RetryAfter{3s}),
         {.attempt = 9},
         "9 attempts_used_up",
         State::failed,
         Reason::exhausted,
         true},
        {"fatal type", thrown(Broken{}), {}, "2 fatal_type", State::pending, Reason::none, false},
        {"discard rule", thrown(Gone("x")), {}, "3 discard_rule", State::failed, Reason::discarded, true},
        {"mark", thrown(Declined("x")), {}, "4 do_not_retry", State::failed, Reason::do_not_retry, false},
        {"rule", thrown(Busy("x")), {.attempt = 40}, "10 retry_after_delay", State::pending, Reason::none, true},
        {"rule used up",
         thrown(Busy("x")),
         {.rule_counts = {{"busy", 2}}},
         "5 retry_rule",
         State::failed,
         Reason::rule_exhausted,
         true},
        {"permanent",
         thrown(std::invalid_argument("x")),
         {},
         "6 permanent_class",
         State::failed,
         Reason::permanent,
         false},
        {"policy", thrown(std::runtime_error("never")), {}, "8 global_policy", State::failed, Reason::policy, true},
        {"exhausted", thrown(plain), {.attempt = 5}, "9 attempts_used_up", State::failed, Reason::exhausted, true},
        {"own limit", thrown(plain), {.max_retries = 0}, "9 attempts_used_up", State::failed, Reason::exhausted, true},
        {"timed out", nullptr, {.timed_out = true}, "10 retry_after_delay", State::pending, Reason::none, true},
        {"timed out at last",
         thrown(plain),
         {.attempt = 5, .timed_out = true},
         "9 attempts_used_up",
         State::failed,
         Reason::timed_out,
         true},
        {"payload",
         thrown(PayloadError("x")),
         {.attempt = 5},
         "9 attempts_used_up",
         State::failed,
         Reason::payload,
         true},
        {"retry", thrown(plain), {.attempt = 4}, "10 retry_after_delay", State::pending, Reason::none, true},
        {"lost", nullptr, {.crashes = 2}, "lost", State::pending, Reason::none, false},
        {"lost at last", nullptr, {.crashes = 3}, "lost", State::failed, Reason::worker_lost, false},
    };
    for (const Case& one : cases) {
        const Explanation explained = scheduler.explain<Count>(one.error, one.options);
        EXPECT_EQ(explained.row, one.row) << one.name;
        EXPECT_EQ(explained.becomes, one.becomes) << one.name;
        EXPECT_EQ(explained.reason, one.reason) << one.name;
        EXPECT_EQ(explained.counted, one.counted) << one.name;
        EXPECT_EQ(explained.delay.has_value(), one.becomes == State::pending) << one.name;
        EXPECT_EQ(explained.kind, Count::kind);
        EXPECT_EQ(explained.attempt, one.options.attempt);
        EXPECT_THAT(to_string(explained), HasSubstr(one.row)) << one.name;
    }
    EXPECT_EQ(scheduler.explain<Note>(std::runtime_error("planned")).row, "10 retry_after_delay");
    for (const auto& ended : {scheduler.explain<Note>(std::runtime_error("planned"), {.attempt = 2}),
                              scheduler.explain<Note>(std::runtime_error("anything else"))}) {
        EXPECT_EQ(ended.row, "7 kind_strategy");
        EXPECT_EQ(ended.reason, Reason::plan);
    }
    EXPECT_EQ(called, 0) << "a dry run calls no callbacks";
}

TEST_F(Explaining, tells_delays_and_where_the_job_goes_on) {
    const Explanation rule = scheduler.explain<Count>(Busy("x"));
    EXPECT_EQ(rule.delay, 5s);
    EXPECT_EQ(rule.rule, "busy");
    EXPECT_EQ(rule.queue, "slow");
    EXPECT_EQ(scheduler.explain<Note>(std::runtime_error("planned")).delay, 11s);
    EXPECT_EQ(scheduler.explain<Count>(std::runtime_error("x")).delay, 7s);
    EXPECT_EQ(scheduler.explain<Count>(std::runtime_error("x"), {.backoff = Backoff::fixed(2s)}).delay, 2s);
    EXPECT_EQ(scheduler.explain<Count>(Snooze{90s}).delay, 90s);
}

TEST_F(Explaining, shows_the_error_as_it_would_be_stored) {
    std::exception_ptr error;
    try {
        try {
            throw std::system_error(std::make_error_code(std::errc::connection_reset), "password=hunter2");
        } catch (...) {
            std::throw_with_nested(std::runtime_error("outer"));
        }
    } catch (...) {
        error = std::current_exception();
    }
    const Explanation explained = scheduler.explain(Count::kind, error);
    ASSERT_TRUE(explained.error);
    EXPECT_EQ(explained.error->type, "std::runtime_error");
    EXPECT_EQ(explained.error->error_class, ErrorClass::transient);
    ASSERT_THAT(explained.error->causes, SizeIs(1));
    const std::string text = to_string(explained);
    EXPECT_THAT(text, HasSubstr("transient"));
    EXPECT_THAT(text, HasSubstr("caused by std::system_error"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("hunter2")));
}

TEST_F(Explaining, tells_of_code_that_misbehaves) {
    const Explanation explained = scheduler.explain<Note>(std::runtime_error("unplanned"));
    EXPECT_EQ(explained.becomes, State::pending);
    ASSERT_THAT(explained.misbehaving, SizeIs(1));
    EXPECT_THAT(explained.misbehaving[0], HasSubstr("retry_with"));
    EXPECT_THAT(scheduler.explain<Count>(std::runtime_error("x")).misbehaving, IsEmpty());
}

TEST_F(Explaining, refuses_what_no_job_can_be) {
    const auto field = [&](std::string_view kind, const ExplainOptions& options) -> std::string {
        try {
            (void)scheduler.explain(kind, nullptr, options);
        } catch (const ConfigError& error) {
            return std::string(error.field());
        }
        return "taken";
    };
    EXPECT_EQ(field("nobody's", {}), "kind");
    EXPECT_EQ(field(Count::kind, {.attempt = 0}), "attempt");
    EXPECT_EQ(field(Count::kind, {.crashes = -1}), "crashes");
    EXPECT_EQ(field(Count::kind, {.rule_counts = {{"busy", -1}}}), "rule_counts.busy");
    EXPECT_EQ(field(Count::kind, {.queue = ""}), "queue");
    EXPECT_EQ(field(Count::kind, {.payload = "{"}), "payload");
    EXPECT_EQ(field(Count::kind, {.max_retries = -1}), "max_retries");
    EXPECT_EQ(field(Count::kind, {.backoff = Backoff::custom([](int) { return 1s; })}), "backoff");
    EXPECT_EQ(field(Count::kind, {}), "taken");
}

TEST(PermanentErrorsOption, is_the_kinds_or_else_the_schedulers) {
    struct Row {
        PermanentErrors scheduler;
        std::optional<PermanentErrors> kind;
        bool discarded;
    };
    using enum PermanentErrors;
    for (const Row& row : {Row{dead_letter, std::nullopt, false}, Row{failed_only, std::nullopt, true},
                           Row{dead_letter, failed_only, true}, Row{failed_only, dead_letter, false}}) {
        Options options;
        options.logger = std::make_shared<spdlog::logger>("silent");
        options.permanent_errors = row.scheduler;
        Scheduler scheduler(options);
        Handler& handler = scheduler.on<Count>([](const Count&) {});
        if (row.kind) handler.with_permanent_errors(*row.kind);
        for (const auto& explained :
             {scheduler.explain<Count>(std::invalid_argument("x")), scheduler.explain<Count>(Declined("x"))}) {
            EXPECT_EQ(explained.becomes, State::failed);
            EXPECT_EQ(explained.discarded, row.discarded);
        }
        EXPECT_FALSE(scheduler.explain<Count>(std::runtime_error("x"), {.attempt = 5}).discarded);
    }
}

TEST(PermanentErrorsOption, refuses_what_it_is_not) {
    const auto wrong = static_cast<PermanentErrors>(7);
    EXPECT_THROW(Scheduler({.permanent_errors = wrong}), ConfigError);
    Scheduler scheduler(Options{});
    EXPECT_THROW(scheduler.on<Count>([](const Count&) {}).with_permanent_errors(wrong), ConfigError);
}

}  // namespace
}  // namespace pawl
