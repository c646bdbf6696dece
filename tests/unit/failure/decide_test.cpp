#include "failure/decide.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/do_not_retry.hpp>

#include "unit/failure/failing_job.hpp"

using namespace pawl;
using namespace pawl::failure::testing;
using namespace std::chrono_literals;
using model::Verdict;

namespace decide_test {

struct Busy : std::runtime_error {
    using runtime_error::runtime_error;
};
struct Gone : std::runtime_error {
    using runtime_error::runtime_error;
};
struct Marked : std::runtime_error {
    using runtime_error::runtime_error;
};
struct OutOfDisk {};

/// A policy that says what it is told to, and counts how often it is asked.
struct Scripted final : RetryPolicy {
    bool retry = true;
    Duration wait{};
    mutable int asked = 0;
    mutable int attempt_seen = 0;

    bool should_retry(int attempt, const Failure&) const override {
        ++asked;
        attempt_seen = attempt;
        return retry;
    }
    Duration delay(int, const Failure&) const override { return wait; }
};

/// A policy that throws what is no exception.
struct Throwing final : RetryPolicy {
    bool should_retry(int, const Failure&) const override { throw 7; }
    Duration delay(int, const Failure&) const override { throw std::string("password=hunter2"); }
};

std::shared_ptr<Scripted> scripted(bool retry, Duration wait = {}) {
    auto policy = std::make_shared<Scripted>();
    policy->retry = retry;
    policy->wait = wait;
    return policy;
}

auto plan_of(RetryPlan plan) {
    return [plan](const Failure&) -> std::optional<RetryPlan> { return plan; };
}

constexpr auto no_plan = [](const Failure&) -> std::optional<RetryPlan> { return std::nullopt; };

}  // namespace decide_test

using namespace decide_test;

template <>
struct pawl::DoNotRetry<Marked> : pawl::permanent<Marked, "declined by the issuer"> {};

namespace {

void expect(const model::Decision& decision, Verdict verdict, Reason reason, bool counted) {
    EXPECT_EQ(decision.verdict, verdict);
    EXPECT_EQ(decision.reason, reason);
    EXPECT_EQ(decision.counted, counted);
}

// What each test below starts from: everything that has a say in later rows says no.
void refuse_below(Trial& trial) {
    trial.policy.retry_policy = scripted(false);
    trial.policy.max_retries = 0;
}

TEST(Decide, sends_a_step_in_doubt_to_a_person_wherever_it_stands_in_the_chain) {
    Trial trial;
    trial.rules().retry_on<std::runtime_error>();
    const auto doubt = thrown(StepInDoubt("charge", 7));
    for (const auto& error : {doubt, nested(TransientError("charging failed"), doubt)}) {
        const auto decision = trial.threw_pointer(error);
        EXPECT_EQ(decision.verdict, Verdict::dead_letter);
        EXPECT_EQ(decision.reason, Reason::needs_person);
        EXPECT_TRUE(decision.counted);
    }
}

}  // namespace

TEST(Decide, completes_what_returned) {
    Trial trial;
    const auto decision = trial.decide(model::Done{"{\"receipt\":1}"});
    expect(decision, Verdict::complete, Reason::none, false);
    EXPECT_EQ(decision.result, "{\"receipt\":1}");
    EXPECT_FALSE(decision.error);
}

// ---- Row 1: what the handler said

TEST(Decide, row_1_snoozes_uncounted) {
    struct Row {
        Duration asked;
        Duration given;
    };
    for (const Row& row :
         std::vector<Row>{{30s, 30s}, {0s, 0s}, {-5s, 0s}, {Duration::max(), std::chrono::days(366)}}) {
        Trial trial;
        refuse_below(trial);
        const auto decision = trial.decide(model::SaidSnooze{row.asked});
        expect(decision, Verdict::snooze, Reason::none, false);
        EXPECT_EQ(Duration(decision.delay), row.given);
    }
}

TEST(Decide, row_1_contains_a_snooze_that_is_no_number) {
    Trial trial;
    const auto decision =
        trial.decide(model::SaidSnooze{std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())});
    expect(decision, Verdict::snooze, Reason::none, false);
    EXPECT_EQ(decision.delay, 1s);
    EXPECT_EQ(trial.notes.misbehaving_policies.size(), 1U);
}

TEST(Decide, row_1_cancels_uncounted_with_a_sanitized_reason) {
    Trial trial;
    const auto decision = trial.decide(model::SaidCancel{std::string("token=abc\0\xE9", 11)});
    expect(decision, Verdict::cancel, Reason::none, false);
    EXPECT_EQ(decision.detail, "token=***REDACTED***");
}

TEST(Decide, row_1_discards_uncounted_and_owes_the_hooks_after_it) {
    Trial trial;
    int called = 0;
    trial.rules().after_discard([&](const Failure&) { ++called; });
    const auto decision =
        trial.decide(model::SaidDiscard{"order is gone", trial.capture(thrown(Discard{"order is gone"}))});
    expect(decision, Verdict::discard, Reason::discarded, false);
    EXPECT_EQ(decision.detail, "order is gone");
    EXPECT_TRUE(decision.error);
    EXPECT_EQ(called, 0);
    trial.run_owed();
    EXPECT_EQ(called, 1);
}

TEST(Decide, row_1_worker_fatal_goes_back_uncounted_and_stops_the_pool) {
    Trial trial;
    const auto decision = trial.decide(model::SaidWorkerFatal{trial.capture(thrown(WorkerFatal{"no GPU"}))});
    expect(decision, Verdict::release, Reason::none, false);
    EXPECT_TRUE(decision.stop_pool);
    EXPECT_EQ(decision.error->message, "no GPU");
}

TEST(Decide, row_1_retry_after_waits_exactly_that_up_to_a_day_and_passes_only_rows_8_and_9) {
    Trial trial;
    trial.policy.non_idempotent = true;
    trial.policy.backoff = Backoff::fixed(1s).capped(1s);
    trial.rules().discard_on<RetryAfter, int>().retry_with(no_plan);
    const auto said = [&](Duration delay, std::exception_ptr cause = nullptr) {
        return model::SaidRetryAfter{delay, "slow", Priority::low,
                                     trial.capture(thrown(RetryAfter{.delay = delay, .cause = cause}))};
    };
    const auto decision = trial.decide(said(90s, thrown(Marked("no"))));
    expect(decision, Verdict::retry_at, Reason::none, true);
    EXPECT_EQ(decision.delay, 90s);
    EXPECT_EQ(decision.queue, "slow");
    EXPECT_EQ(decision.priority, Priority::low);
    EXPECT_EQ(decision.error->causes.at(0).message, "no");
    EXPECT_EQ(trial.decide(said(48h)).delay, 24h);
    EXPECT_EQ(trial.decide(said(0s)).delay, 0s);
    EXPECT_TRUE(trial.notes.misbehaving_policies.empty());
    EXPECT_EQ(trial.decide(said(-1s)).delay, 1s);  // contained: the job's own backoff
    EXPECT_EQ(trial.notes.misbehaving_policies.size(), 1U);

    trial.policy.retry_policy = scripted(false);
    expect(trial.decide(said(90s)), Verdict::dead_letter, Reason::policy, true);
    trial.policy.retry_policy = nullptr;
    trial.policy.max_retries = 0;
    expect(trial.decide(said(90s)), Verdict::dead_letter, Reason::exhausted, true);
}

TEST(Decide, row_1_drops_a_queue_and_priority_that_cannot_be) {
    Trial trial;
    const auto decision = trial.decide(
        model::SaidRetryAfter{1s, std::string("a\0b", 3), static_cast<Priority>(77), trial.capture(thrown(7))});
    expect(decision, Verdict::retry_at, Reason::none, true);
    EXPECT_FALSE(decision.queue);
    EXPECT_FALSE(decision.priority);
}

// ---- Row 2

// R2, R3
TEST(Decide, row_2_a_fatal_type_at_the_top_goes_back_and_stops_the_pool) {
    Trial trial;
    refuse_below(trial);
    trial.policy.non_idempotent = true;
    trial.rules().discard_on<OutOfDisk>();
    auto classification = std::make_shared<Classification>();
    classification->classify_as_fatal<OutOfDisk>();
    trial.policy.classification = classification;
    const auto decision = trial.threw(OutOfDisk{});
    expect(decision, Verdict::release, Reason::none, false);
    EXPECT_TRUE(decision.stop_pool);

    trial.policy.non_idempotent = false;
    const auto as_cause = trial.threw_pointer(nested(Busy(""), thrown(OutOfDisk{})));
    EXPECT_EQ(as_cause.verdict, Verdict::discard);
    EXPECT_FALSE(as_cause.stop_pool);
}

// P9, P27
TEST(Decide, row_2b_a_kind_that_is_not_idempotent_needs_a_person) {
    Trial trial;
    trial.policy.non_idempotent = true;
    trial.rules().discard_on<Busy>();
    expect(trial.threw(Busy("")), Verdict::dead_letter, Reason::needs_person, true);
    expect(trial.decide(model::TimedOutRun{trial.capture(failure::timed_out(1s, nullptr))}), Verdict::dead_letter,
           Reason::needs_person, true);
    expect(trial.decide(model::InterruptedRun{"stop"}), Verdict::dead_letter, Reason::needs_person, true);
    expect(trial.decide(model::LostRun{"n1", true, true}), Verdict::dead_letter, Reason::needs_person, true);
    // Its claim says that the run had not begun.
    const auto unbegun = trial.decide(model::LostRun{"n1", true, false});
    expect(unbegun, Verdict::release, Reason::none, false);
    EXPECT_FALSE(unbegun.crashed || unbegun.lost_in_company);
    EXPECT_EQ(trial.decide(model::Undecodable{trial.capture(thrown(PayloadError("")))}).verdict, Verdict::retry_at);
    EXPECT_EQ(trial.decide(model::SaidSnooze{1s}).verdict, Verdict::snooze);
}

// ---- Row 3 and the search of rules (4a)

// A15, A16, A35
TEST(Decide, row_3_a_discard_rule_discards_counted_before_any_mark) {
    Trial trial;
    refuse_below(trial);
    std::vector<std::string> calls;
    trial.rules()
        .discard_on<Marked>(
            [&](const Failure& failure) { calls.push_back("discard " + std::string(failure.message())); })
        .after_discard([&](const Failure& failure) { calls.push_back("after " + std::string(failure.message())); });
    const auto decision = trial.threw_pointer(nested(Busy("outer"), thrown(Marked("inner"))));
    expect(decision, Verdict::discard, Reason::discarded, true);
    EXPECT_EQ(decision.rule, "decide_test::Marked");
    trial.run_owed();
    EXPECT_EQ(calls, (std::vector<std::string>{"discard inner", "after outer"}));
}

// A4, A17, A28, A29, A31, A45
TEST(Decide, searches_rules_from_the_last_declared_and_the_error_before_its_causes) {
    struct Row {
        std::exception_ptr error;
        const char* rule;
    };
    Trial trial;
    trial.rules()
        .retry_on<Gone>({.key = "gone"})
        .retry_on<std::exception>({.key = "any"})
        .retry_on<Busy>({.key = "busy"})
        .retry_on<int>({.key = "int"});
    const std::vector<Row> rows{
        {thrown(Busy("")), "busy"},
        {thrown(Gone("")), "any"},  // declared later than its own rule, and matches by is-a
        {thrown(7), "int"},
        {nested(OutOfDisk{}, thrown(7)), "int"},
        {nested(Gone(""), thrown(7)), "any"},
        {nested(OutOfDisk{}, nested(OutOfDisk{}, thrown(Busy("")))), "busy"},
        {thrown(OutOfDisk{}), ""},
    };
    for (const Row& row : rows) EXPECT_EQ(trial.threw_pointer(row.error).rule, row.rule);
}

// A30
TEST(Decide, searches_the_base_after_the_kind_itself) {
    Trial trial;
    Rules base;
    base.retry_on<std::exception>({.key = "base"}).discard_on<Gone>();
    trial.rules().retry_on<Busy>({.key = "own"}).inherit(base);
    EXPECT_EQ(trial.threw(Busy("")).rule, "own");
    EXPECT_EQ(trial.threw(Gone("")).verdict, Verdict::discard);
    EXPECT_EQ(trial.threw(TransientError("")).rule, "base");
}

// ---- Row 4

// P18, T23
TEST(Decide, row_4_a_mark_anywhere_in_the_chain_is_a_dead_letter_uncounted) {
    Trial trial;
    trial.rules().retry_on<std::exception>({.attempts = unlimited});
    for (const auto& error :
         {thrown(Marked("")), nested(Marked(""), thrown(7)), nested(Busy(""), nested(Busy(""), thrown(Marked("")))),
          nested(TransientError(""), thrown(Marked("")))}) {
        const auto decision = trial.threw_pointer(error);
        expect(decision, Verdict::dead_letter, Reason::do_not_retry, false);
        EXPECT_EQ(decision.detail, "declined by the issuer");
        EXPECT_EQ(decision.rule, "");
    }
    const auto decision = trial.threw_pointer(nested(Busy(""), thrown(PermanentError("never"))));
    expect(decision, Verdict::dead_letter, Reason::do_not_retry, false);
    EXPECT_EQ(decision.detail, "");
}

// P18
TEST(Decide, permanent_errors_can_be_kept_out_of_the_dead_letters) {
    Trial trial;
    trial.policy.permanent_errors = PermanentErrors::failed_only;
    expect(trial.threw(Marked("")), Verdict::discard, Reason::do_not_retry, false);
    expect(trial.threw(std::invalid_argument("")), Verdict::discard, Reason::permanent, false);
}

// ---- Row 5

// A2, A3, A9, A21, A22, A23, A10
TEST(Decide, row_5_a_rule_has_a_count_of_its_own) {
    struct Row {
        int attempts;
        int counted;
        bool retried;
    };
    const std::vector<Row> rows{{5, 0, true},  {5, 3, true},  {5, 4, false},           {5, 9, false},
                                {1, 0, false}, {0, 0, false}, {unlimited, 9999, true}, {unlimited, unlimited, true}};
    for (const Row& row : rows) {
        Trial trial;
        trial.policy.max_retries = 0;  // Row 9 is not for rules.
        trial.job.facts.attempts = 20;
        trial.job.rule_counts = {{"busy", row.counted}, {"other", 100}};
        trial.rules().retry_on<Busy>({.attempts = row.attempts, .key = "busy"});
        const auto decision = trial.threw(Busy(""));
        EXPECT_TRUE(decision.counted);
        EXPECT_EQ(decision.rule, "busy");
        EXPECT_EQ(decision.verdict == Verdict::retry_at, row.retried) << row.attempts << " " << row.counted;
        EXPECT_EQ(decision.reason, row.retried ? Reason::none : Reason::rule_exhausted);
    }
}

// A14, B010
TEST(Decide, row_5_types_of_one_rule_share_a_count_and_rules_do_not) {
    Trial trial;
    trial.rules().retry_on<Busy, Gone>({.attempts = 3}).retry_on<int>({.attempts = 3});
    trial.job.facts.attempts = 2;
    trial.job.rule_counts = {{"decide_test::Busy,decide_test::Gone", 2}};
    EXPECT_EQ(trial.threw(Gone("")).reason, Reason::rule_exhausted);
    EXPECT_EQ(trial.threw(7).verdict, Verdict::retry_at);
}

// A5, A6, A7, A8, A13, A24, A25, A26, A27
TEST(Decide, row_5_a_rule_waits_as_it_says) {
    struct Row {
        RetryRule rule;
        Duration delay;
        Duration jitter;
    };
    const std::vector<Row> rows{
        {{}, 3225ms, 225ms},
        {{.wait = 10s, .jitter = 0}, 10s, 0s},
        {{.wait = 10s, .jitter = 1}, 15s, 5s},
        {{.wait = 0s}, 0s, 0s},
        {{.wait = polynomially_longer, .jitter = 0}, 83s, 0s},
        {{.wait = polynomially_longer, .jitter = 1}, 83s + 40500ms, 40500ms},
        {{.wait = [](int n) { return n * 2s; }}, 6s, 0s},
        {{.wait = [](int n, const Failure& failure) { return n * std::chrono::seconds(failure.message().size()); }},
         12s,
         0s},
    };
    for (const Row& row : rows) {
        Trial trial;
        trial.random.value = 0.5;
        trial.job.facts.attempts = 9;
        RetryRule rule = row.rule;
        rule.key = "busy";
        trial.rules().retry_on<Busy>(rule);
        trial.job.rule_counts = {{"busy", 2}};
        const auto decision = trial.threw_pointer(nested(OutOfDisk{}, thrown(Busy("four"))));
        EXPECT_EQ(decision.verdict, Verdict::retry_at);
        EXPECT_EQ(Duration(decision.delay), row.delay);
        EXPECT_EQ(Duration(decision.jitter), row.jitter);
    }
}

// A11, A12, A40
TEST(Decide, row_5_a_rule_moves_the_job_to_its_queue_and_priority) {
    Trial trial;
    trial.rules().retry_on<Busy>({.queue = "slow", .priority = Priority::lowest});
    const auto decision = trial.threw(Busy(""));
    EXPECT_EQ(decision.queue, "slow");
    EXPECT_EQ(decision.priority, Priority::lowest);
    EXPECT_FALSE(trial.threw(7).queue);
}

// A3, A33, A34
TEST(Decide, row_5_an_exhausted_rule_owes_its_callback_with_the_cause_that_matched) {
    Trial trial;
    std::vector<std::string> calls;
    const auto call = [&](const char* name) {
        return [&calls, name](const Failure& failure) { calls.push_back(name + std::string(failure.message())); };
    };
    trial.rules()
        .retry_on<Busy>({.attempts = 1, .exhausted = call("rule ")})
        .on_exhausted(call("kind "))
        .after_discard(call("after "));
    expect(trial.threw_pointer(nested(Gone("outer"), thrown(Busy("inner")))), Verdict::dead_letter,
           Reason::rule_exhausted, true);
    trial.run_owed();
    EXPECT_EQ(calls, (std::vector<std::string>{"rule inner", "after outer"}));
}

// ---- Row 6

// T23, F20
TEST(Decide, row_6_a_permanent_class_is_a_dead_letter_uncounted_unless_a_rule_matched) {
    Trial trial;
    trial.rules().retry_with(plan_of({.retries = 100, .delays = {}})).retry_on<std::length_error>();
    const auto unknown = std::runtime_error("");
    struct Row {
        std::exception_ptr error;
        bool permanent;
    };
    const std::vector<Row> rows{
        {thrown(std::invalid_argument("")), true},
        {thrown(std::system_error(std::make_error_code(std::errc::permission_denied))), true},
        {nested(unknown, thrown(std::invalid_argument(""))), true},
        {nested(TransientError(""), thrown(std::invalid_argument(""))), false},
        {nested(std::system_error(std::make_error_code(std::errc::timed_out)), thrown(std::out_of_range(""))), false},
        {thrown(std::length_error("")), false},
        {thrown(std::logic_error("")), false},
    };
    for (const Row& row : rows) {
        const auto decision = trial.threw_pointer(row.error);
        if (row.permanent) {
            expect(decision, Verdict::dead_letter, Reason::permanent, false);
        } else {
            expect(decision, Verdict::retry_at, Reason::none, true);
        }
    }
}

TEST(Decide, row_6_asks_what_the_scheduler_has_registered) {
    struct Local {};
    Trial trial;
    auto classification = std::make_shared<Classification>();
    classification->classify_as_permanent<Local>();
    trial.policy.classification = classification;
    expect(trial.threw(Local{}), Verdict::dead_letter, Reason::permanent, false);
}

// ---- Row 7

// R4, R6, R7, R8, R9, R10, R23, R24, R25, R27
TEST(Decide, row_7_a_plan_is_asked_afresh_and_rules_limit_and_delay) {
    struct Row {
        int recorded;
        RetryPlan plan;
        bool retried;
        Duration delay;
    };
    const std::vector<Row> rows{
        {0, {.retries = 0, .delays = {}}, false, {}},       // R7, R23
        {0, {.retries = 2, .delays = {1s, 5s}}, true, 1s},  // R8
        {1, {.retries = 2, .delays = {1s, 5s}}, true, 5s},
        {2, {.retries = 2, .delays = {1s, 5s}}, false, {}},  // R7
        {3, {.retries = 9, .delays = {1s, 5s}}, true, 5s},   // R9
        {0, {.retries = 1, .delays = {}}, true, 0s},         // R25
        {0, {.retries = 1, .delays = {0s}}, true, 0s},
        {0, {.retries = 1, .delays = {1s, 5s, 9s}}, true, 1s},  // R27
        {9, {.retries = 100, .delays = {1s}}, true, 1s},        // R23: it grew, beyond the job's own limit of 4
        {9, {.retries = 3, .delays = {1s}}, false, {}},         // R23: it shrank
        {9, {.retries = std::numeric_limits<int>::max(), .delays = {1s}}, true, 1s},
    };
    for (const Row& row : rows) {
        Trial trial;
        trial.policy.retry_policy = scripted(true, 77s);
        trial.job.facts.attempts = row.recorded;
        trial.rules().retry_with(plan_of(row.plan));
        const auto decision = trial.threw(Busy(""));
        EXPECT_TRUE(decision.counted);
        EXPECT_EQ(decision.rule, ":plan");
        EXPECT_EQ(decision.verdict, row.retried ? Verdict::retry_at : Verdict::dead_letter);
        EXPECT_EQ(decision.reason, row.retried ? Reason::none : Reason::plan);
        EXPECT_EQ(Duration(decision.delay), row.delay);
    }
}

// R10, R11, R13, R14, R15, R16, R17
TEST(Decide, row_7_no_plan_means_no_retry_and_sees_the_error) {
    Trial trial;
    std::string told;
    trial.rules()
        .retry_with([](const Failure& failure) -> std::optional<RetryPlan> {
            if (failure.is<Gone>()) return std::nullopt;
            return RetryPlan{.retries = 1, .delays = {std::chrono::milliseconds(*failure.as<int>())}};
        })
        .on_exhausted([&](const Failure& failure) { told = failure.message(); });
    EXPECT_EQ(trial.threw(250).delay, 250ms);
    expect(trial.threw(Gone("for good")), Verdict::dead_letter, Reason::plan, true);
    trial.run_owed();
    EXPECT_EQ(told, "for good");
}

// R28, R29, B009
TEST(Decide, row_7_contains_a_strategy_that_throws_or_returns_nonsense) {
    const std::vector<RetryStrategy> wrong{
        [](const Failure&) -> std::optional<RetryPlan> { throw 7; },
        [](const Failure&) -> std::optional<RetryPlan> { throw std::runtime_error("boom"); },
        plan_of({.retries = -1, .delays = {}}),
        plan_of({.retries = 5, .delays = {1s, -1s}}),
        plan_of({.retries = 5, .delays = {Duration::max()}}),
        plan_of({.retries = 5, .delays = {std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())}}),
    };
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        Trial trial;
        trial.rules().retry_with(wrong[i]);
        const auto decision = trial.threw(Busy(""));
        expect(decision, Verdict::retry_at, Reason::none, true);
        EXPECT_EQ(decision.delay, 1s) << i;
        ASSERT_EQ(trial.notes.misbehaving_policies.size(), 1U);
        EXPECT_EQ(trial.notes.misbehaving_policies[0].where, "retry_with");

        trial.job.facts.attempts = 4;
        expect(trial.threw(Busy("")), Verdict::dead_letter, Reason::exhausted, true);
    }
}

// ---- Row 8

// T26
TEST(Decide, row_8_the_policy_may_refuse) {
    Trial trial;
    const auto policy = scripted(false);
    trial.policy.retry_policy = policy;
    trial.job.facts.attempts = 2;
    trial.rules().retry_on<Gone>();
    expect(trial.threw(Busy("")), Verdict::dead_letter, Reason::policy, true);
    EXPECT_EQ(policy->attempt_seen, 3);
    expect(trial.threw(Gone("")), Verdict::dead_letter, Reason::policy, true);
    EXPECT_EQ(policy->asked, 2);
    static_cast<void>(trial.threw(Marked("")));
    static_cast<void>(trial.threw(std::invalid_argument("")));
    EXPECT_EQ(policy->asked, 2);  // T23: not asked about what is permanent
}

TEST(Decide, row_8_the_default_policy_leaves_all_to_the_job) {
    Trial trial;
    trial.policy.retry_policy = std::make_shared<DefaultRetryPolicy>();
    EXPECT_EQ(trial.threw(Busy("")).delay, 1s);
}

// B009, T26, T29
TEST(Decide, row_8_contains_a_policy_that_throws) {
    Trial trial;
    trial.policy.retry_policy = std::make_shared<Throwing>();
    const auto decision = trial.threw(Busy(""));
    expect(decision, Verdict::retry_at, Reason::none, true);
    EXPECT_EQ(decision.delay, 1s);
    ASSERT_EQ(trial.notes.misbehaving_policies.size(), 2U);
    EXPECT_EQ(trial.notes.misbehaving_policies[0].what, "threw int");
    EXPECT_EQ(trial.notes.misbehaving_policies[1].what.find("hunter2"), std::string::npos);
    trial.job.facts.attempts = 4;
    expect(trial.threw(Busy("")), Verdict::dead_letter, Reason::exhausted, true);
}

// ---- Row 9

// P3, P14, P19, P21, R7, R20, T24, T25
TEST(Decide, row_9_sends_the_last_failed_attempt_to_the_dead_letters) {
    struct Row {
        int recorded;
        std::optional<int> own;
        bool retried;
    };
    const int largest = std::numeric_limits<int>::max();
    const std::vector<Row> rows{{0, {}, true},   {3, {}, true},       {4, {}, false},          {9, {}, false},
                                {0, 0, false},   {0, 1, true},        {1, 1, false},           {29, 30, true},
                                {30, 30, false}, {largest, 3, false}, {largest, largest, true}};
    for (const Row& row : rows) {
        Trial trial;
        trial.job.facts.attempts = row.recorded;
        trial.job.max_retries = row.own;
        const auto decision = trial.threw(Busy(""));
        expect(decision, row.retried ? Verdict::retry_at : Verdict::dead_letter,
               row.retried ? Reason::none : Reason::exhausted, true);
    }
}

TEST(Decide, row_9_what_was_said_with_the_job_bounds_rules_and_plans_as_well) {
    Trial trial;
    trial.job.facts.attempts = 2;
    trial.rules().retry_on<Busy>({.attempts = unlimited}).retry_with(plan_of({.retries = 100, .delays = {}}));
    trial.policy.max_retries = 0;
    EXPECT_EQ(trial.threw(Busy("")).verdict, Verdict::retry_at);
    EXPECT_EQ(trial.threw(7).verdict, Verdict::retry_at);
    trial.job.max_retries = 2;
    expect(trial.threw(Busy("")), Verdict::dead_letter, Reason::exhausted, true);
    expect(trial.threw(7), Verdict::dead_letter, Reason::exhausted, true);
}

// P20, P23, P24
TEST(Decide, an_exhausted_unknown_error_is_poison_or_a_bug) {
    struct Row {
        std::exception_ptr error;
        bool poison;
    };
    const std::vector<Row> rows{
        {thrown(Busy("")), true},
        {thrown(TransientError("")), false},
        {thrown(std::system_error(std::make_error_code(std::errc::timed_out))), false},
        {thrown(7), true},  // by its rule
        {thrown(Marked("")), false},
    };
    for (const Row& row : rows) {
        Trial trial;
        trial.rules().retry_on<int>({.attempts = 1});
        trial.policy.max_retries = 0;
        static_cast<void>(trial.threw_pointer(row.error));
        EXPECT_EQ(trial.notes.poison_or_bug, row.poison);
    }
    Trial refused;
    refused.policy.retry_policy = scripted(false);
    static_cast<void>(refused.threw(Busy("")));
    EXPECT_FALSE(refused.notes.poison_or_bug);
}

// ---- Row 10

// T27, R26
TEST(Decide, row_10_takes_the_policys_delay_if_it_has_one_else_the_jobs_backoff) {
    Trial trial;
    trial.job.facts.attempts = 2;
    EXPECT_EQ(trial.threw(Busy("")).delay, 4s);
    trial.policy.retry_policy = scripted(true, 7s);
    EXPECT_EQ(trial.threw(Busy("")).delay, 7s);
    trial.policy.retry_policy = scripted(true, 0s);
    EXPECT_EQ(trial.threw(Busy("")).delay, 4s);
    trial.job.backoff = "fixed 9s capped 1d no_jitter";
    EXPECT_EQ(trial.threw(Busy("")).delay, 9s);
    trial.job.backoff = "gibberish";
    EXPECT_EQ(trial.threw(Busy("")).delay, 4s);
    EXPECT_EQ(trial.notes.misbehaving_policies.size(), 1U);
}

TEST(Decide, row_10_keeps_the_jitter_that_was_drawn) {
    Trial trial;
    trial.policy.backoff = Backoff::fixed(10s).jittered(Jitter::equal());
    const auto decision = trial.threw(Busy(""));
    EXPECT_EQ(decision.delay, 5s);
    EXPECT_EQ(decision.jitter, -5s);
}

// B009
TEST(Decide, row_10_uses_the_jobs_backoff_where_user_code_returns_nonsense) {
    const std::vector<Duration> nonsense{-1s,
                                         Duration(std::chrono::microseconds::min()),
                                         Duration::max(),
                                         std::chrono::days(367),
                                         std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()),
                                         std::chrono::duration<double>(std::numeric_limits<double>::infinity())};
    for (const Duration delay : nonsense) {
        Trial by_policy;
        by_policy.policy.retry_policy = scripted(true, delay);
        EXPECT_EQ(by_policy.threw(Busy("")).delay, 1s);
        EXPECT_EQ(by_policy.notes.misbehaving_policies.size(), 1U);

        Trial by_rule;
        by_rule.policy.retry_policy = scripted(true, 77s);
        by_rule.rules().retry_on<Busy>({.wait = [delay](int) { return delay; }});
        EXPECT_EQ(by_rule.threw(Busy("")).delay, 1s);
        EXPECT_EQ(by_rule.notes.misbehaving_policies.size(), 1U);
    }
    Trial throwing;
    throwing.rules().retry_on<Busy>({.wait = [](int) -> Duration { throw 7; }});
    EXPECT_EQ(throwing.threw(Busy("")).delay, 1s);
    EXPECT_EQ(throwing.notes.misbehaving_policies.size(), 1U);
}

// B009
TEST(Decide, row_10_replaces_a_custom_backoff_that_misbehaves) {
    for (const Backoff& backoff :
         {Backoff::custom([](int) -> Duration { throw 7; }), Backoff::custom([](int) -> Duration { return -1s; })}) {
        Trial trial;
        trial.policy.backoff = backoff;
        const auto decision = trial.threw(Busy(""));
        expect(decision, Verdict::retry_at, Reason::none, true);
        EXPECT_EQ(decision.delay, 750ms);  // the default, in the middle of its jitter
        EXPECT_EQ(trial.notes.misbehaving_policies.size(), 1U);
    }
}

// B001, B003
TEST(Decide, row_10_stays_within_the_cap_for_a_job_with_any_number_of_attempts) {
    for (const int recorded : {0, 30, 62, 63, 64, 310, 100000, std::numeric_limits<int>::max()}) {
        Trial trial;
        trial.job.facts.attempts = recorded;
        trial.job.max_retries = std::numeric_limits<int>::max();
        trial.job.backoff = "exponential 2s capped 120s no_jitter";
        const auto decision = trial.threw(Busy(""));
        EXPECT_EQ(decision.verdict, Verdict::retry_at);
        EXPECT_GT(decision.delay, 0s);
        EXPECT_LE(decision.delay, 120s);
    }
}

// ---- 4b and 4c: other outcomes

// P12, F6
TEST(Decide, a_timed_out_run_is_a_transient_failure_from_row_3_on) {
    Trial trial;
    const auto late = [&](std::exception_ptr cause = nullptr) {
        return model::TimedOutRun{trial.capture(failure::timed_out(30s, std::move(cause)))};
    };
    expect(trial.decide(late()), Verdict::retry_at, Reason::none, true);
    EXPECT_TRUE(trial.notes.timed_out);
    expect(trial.decide(late(thrown(std::invalid_argument("")))), Verdict::retry_at, Reason::none, true);
    expect(trial.decide(late(thrown(Marked("")))), Verdict::dead_letter, Reason::do_not_retry, false);

    auto classification = std::make_shared<Classification>();
    classification->classify_as_fatal<std::exception>();
    trial.policy.classification = classification;
    EXPECT_FALSE(trial.decide(late()).stop_pool);

    trial.job.facts.attempts = 4;
    expect(trial.decide(late()), Verdict::dead_letter, Reason::timed_out, true);
    EXPECT_FALSE(trial.notes.poison_or_bug);

    trial.rules().retry_on<TimedOut>({.attempts = 10, .wait = 2s, .jitter = 0});
    EXPECT_EQ(trial.decide(late()).delay, 2s);
    trial.rules().discard_on<TimedOut>();
    EXPECT_EQ(trial.decide(late()).verdict, Verdict::discard);
}

// T11, A18, A32
TEST(Decide, a_payload_that_cannot_be_decoded_is_retried_five_times_a_minute_apart) {
    struct Row {
        int recorded;
        std::optional<int> own;
        bool retried;
    };
    for (const Row& row :
         std::vector<Row>{{0, {}, true}, {3, 100, true}, {4, 100, false}, {4, {}, false}, {0, 0, false}}) {
        Trial trial;
        trial.job.facts.attempts = row.recorded;
        trial.job.max_retries = row.own;
        const auto decision = trial.decide(model::Undecodable{
            trial.capture(nested(PayloadError("bad payload"), thrown(std::out_of_range("no such key"))))});
        expect(decision, row.retried ? Verdict::retry_at : Verdict::dead_letter,
               row.retried ? Reason::none : Reason::payload, true);
        EXPECT_EQ(decision.error->error_class, ErrorClass::unknown);
        EXPECT_EQ(decision.delay, row.retried ? 60s : 0s);
    }
    Trial trial;
    trial.rules().retry_on<PayloadError>({.attempts = unlimited, .wait = 1s, .jitter = 0});
    trial.job.facts.attempts = 99;
    EXPECT_EQ(trial.decide(model::Undecodable{trial.capture(thrown(PayloadError("")))}).delay, 1s);
    trial.rules().discard_on<PayloadError>();
    EXPECT_EQ(trial.decide(model::Undecodable{trial.capture(thrown(PayloadError("")))}).verdict, Verdict::discard);
}

// R32, A47
TEST(Decide, an_interrupted_run_goes_back_uncounted) {
    Trial trial;
    refuse_below(trial);
    const auto decision = trial.decide(model::InterruptedRun{"stop", 5s});
    expect(decision, Verdict::release, Reason::none, false);
    EXPECT_FALSE(decision.crashed);
    EXPECT_EQ(decision.delay, 5s);  // T8
    EXPECT_EQ(decision.detail, "stop");
}

// R33, F8
TEST(Decide, a_lost_run_is_charged_to_the_crash_budget_and_nothing_else) {
    struct Row {
        int crashes;
        bool retried;
        Duration delay;
    };
    const std::vector<Row> rows{
        {0, true, 1s}, {1, true, 2s}, {2, true, 4s}, {3, false, {}}, {std::numeric_limits<int>::max(), false, {}}};
    for (const Row& row : rows) {
        Trial trial;
        const auto policy = scripted(false);
        trial.policy.retry_policy = policy;
        trial.policy.max_retries = 0;
        trial.rules().discard_on<std::exception>();
        trial.job.facts.crashes = row.crashes;
        const auto decision = trial.decide(model::LostRun{"node-1", true});
        expect(decision, row.retried ? Verdict::retry_at : Verdict::dead_letter,
               row.retried ? Reason::none : Reason::worker_lost, false);
        EXPECT_TRUE(decision.crashed);
        EXPECT_EQ(Duration(decision.delay), row.delay);
        EXPECT_EQ(decision.error->type, "pawl::WorkerLost");
        EXPECT_EQ(policy->asked, 0);
        EXPECT_FALSE(trial.notes.poison_or_bug);
    }
}

TEST(Decide, a_lost_run_in_company_is_charged_to_nobody) {
    Trial trial;
    trial.job.facts.crashes = 3;
    const auto decision = trial.decide(model::LostRun{"node-1", false});
    expect(decision, Verdict::release, Reason::none, false);
    EXPECT_FALSE(decision.crashed);
    EXPECT_TRUE(decision.lost_in_company);
}

// A process that never runs a job alone is not taken down by the same one for ever.
TEST(Decide, a_lost_run_in_company_is_charged_after_many_of_them) {
    Trial trial;
    trial.job.facts.losses = 9;
    EXPECT_FALSE(trial.decide(model::LostRun{"node-1", false}).crashed);
    trial.job.facts.losses = 10;
    const auto charged = trial.decide(model::LostRun{"node-1", false});
    expect(charged, Verdict::retry_at, Reason::none, false);
    EXPECT_TRUE(charged.crashed);
    trial.job.facts.crashes = 3;
    expect(trial.decide(model::LostRun{"node-1", false}), Verdict::dead_letter, Reason::worker_lost, false);
}

// A node that does not know the kind decides about it too.
TEST(Decide, a_lost_run_that_must_not_be_repeated_needs_a_person_whatever_the_rescuer_knows_of_its_kind) {
    Trial trial;
    for (const bool alone : {true, false}) {
        const auto decision = trial.decide(model::LostRun{"node-1", alone, true});
        expect(decision, Verdict::dead_letter, Reason::needs_person, true);
        EXPECT_FALSE(decision.crashed);
    }
}

TEST(Decide, row_10_a_retry_above_the_budget_has_the_delay_of_its_turn) {
    const failure::Budget::SteadyTime now{1h};
    Trial trial;
    trial.policy.budget =
        std::make_shared<failure::Budget>(RetryBudget{.ratio = 0, .at_least = 1}, [now] { return now; });
    const auto within = trial.threw(Busy(""));
    EXPECT_EQ(Duration(within.delay), 1s);
    EXPECT_TRUE(within.rule.empty());
    const auto above = trial.threw(Busy(""));
    expect(above, Verdict::retry_at, Reason::none, true);
    EXPECT_EQ(Duration(above.delay), 60s);
    EXPECT_EQ(above.jitter, 0s);
    EXPECT_EQ(above.rule, ":budget");
    // Asked for by the handler: counted, and left as it is.
    EXPECT_EQ(trial.decide(model::SaidRetryAfter{5s, {}, {}, trial.capture(thrown(RetryAfter{.delay = 5s}))}).delay,
              5s);
    // A rule keeps its name, by which its failures are counted.
    trial.rules().retry_on<Busy>();
    const auto by_rule = trial.threw(Busy(""));
    EXPECT_EQ(Duration(by_rule.delay), 180s);
    EXPECT_NE(by_rule.rule, ":budget");
    // What is not retried takes no turn.
    trial.policy.max_retries = 0;
    expect(trial.threw(std::runtime_error("")), Verdict::dead_letter, Reason::exhausted, true);
    trial.policy.max_retries = 4;
    EXPECT_EQ(Duration(trial.threw(std::runtime_error("")).delay), 240s);
}

// F9
TEST(Decide, the_interruption_of_another_attempt_is_an_ordinary_error) {
    Trial trial;
    const auto decision = trial.threw(Interrupted(1, 2));
    expect(decision, Verdict::retry_at, Reason::none, true);
    EXPECT_EQ(decision.error->type, "pawl::Interrupted");
}

TEST(Decide, does_not_depend_on_an_outcome_that_kept_its_failure) {
    Trial trial;
    expect(trial.decide(model::Threw{}), Verdict::retry_at, Reason::none, true);
    expect(trial.decide(model::SaidDiscard{"gone", nullptr}), Verdict::discard, Reason::discarded, false);
}

// ---- Hooks and records

// A19, A36, A37, A38, A39
TEST(Decide, owes_after_discard_for_every_terminal_failure_and_for_no_retry) {
    int calls = 0;
    Trial trial;
    trial.rules().after_discard([&](const Failure&) { ++calls; }).discard_on<Gone>();
    trial.policy.non_idempotent = false;
    static_cast<void>(trial.threw(Busy("")));
    trial.run_owed();
    EXPECT_EQ(calls, 0);
    static_cast<void>(trial.threw(Gone("")));
    trial.run_owed();
    static_cast<void>(trial.threw(Marked("")));
    trial.run_owed();
    static_cast<void>(trial.threw(std::invalid_argument("")));
    trial.run_owed();
    trial.job.facts.crashes = 3;
    static_cast<void>(trial.decide(model::LostRun{"n", true}));
    trial.run_owed();
    trial.policy.max_retries = 0;
    static_cast<void>(trial.threw(Busy("")));
    trial.run_owed();
    EXPECT_EQ(calls, 5);
    trial.run_owed();
    EXPECT_EQ(calls, 5);
}

// A38
TEST(RunHooks, goes_on_after_a_hook_that_throws) {
    std::vector<int> calls;
    Trial trial;
    Rules base;
    base.after_discard([&](const Failure&) { calls.push_back(1); });
    trial.rules()
        .after_discard([&](const Failure&) {
            calls.push_back(2);
            throw std::runtime_error("token=abc");
        })
        .after_discard([&](const Failure&) {
            calls.push_back(3);
            throw 7;
        })
        .after_discard([&](const Failure&) { calls.push_back(4); })
        .inherit(base);
    static_cast<void>(trial.threw(Marked("")));
    const auto& notes = trial.run_owed();
    EXPECT_EQ(calls, (std::vector<int>{1, 2, 3, 4}));
    ASSERT_EQ(notes.misbehaving_hooks.size(), 2U);
    EXPECT_EQ(notes.misbehaving_hooks[0].where, "after_discard");
    EXPECT_EQ(notes.misbehaving_hooks[0].what, "threw std::runtime_error: token=***REDACTED***");
}

// P19, B048
TEST(Decide, fills_the_record_through_the_sanitizer_for_retries_and_dead_letters) {
    Trial trial;
    for (const int retries : {4, 0}) {
        trial.policy.max_retries = retries;
        const auto decision = trial.threw(Busy("postgresql://u:p@h/db"));
        ASSERT_TRUE(decision.error);
        EXPECT_EQ(decision.error->type, "decide_test::Busy");
        EXPECT_EQ(decision.error->message, "postgresql://***REDACTED***@h/db");
    }
}
