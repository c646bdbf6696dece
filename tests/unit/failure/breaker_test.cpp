#include "failure/breaker.hpp"

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>

#include "unit/failure/failing_job.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using failure::Breaker;
using failure::CallResult;
using testing::ElementsAre;

/// A breaker on a clock that the test moves.
struct BreakerLaw : testing::Test {
    Breaker::SteadyTime now{1h};
    std::vector<BreakerState> told;
    Breaker breaker{
        "gateway", {.window = 10, .minimum_calls = 4, .open_for = 30s, .trials = 2}, [this] { return now; }};

    BreakerLaw() {
        breaker.on_change([this](BreakerState state) { told.push_back(state); });
    }

    Breaker::Permit let_through() {
        const auto answer = breaker.admit();
        EXPECT_TRUE(std::holds_alternative<Breaker::Permit>(answer));
        return std::get<Breaker::Permit>(answer);
    }
    std::chrono::microseconds put_back() {
        const auto answer = breaker.admit();
        EXPECT_TRUE(std::holds_alternative<Breaker::Wait>(answer));
        return std::get<Breaker::Wait>(answer).time;
    }
    void call(CallResult result, int times = 1) {
        for (int i = 0; i < times; ++i) breaker.ended(let_through(), result);
    }
    void half_open() {
        breaker.open();
        now += 30s;
    }
};

TEST_F(BreakerLaw, opens_when_half_of_enough_calls_failed) {
    call(CallResult::bad, 3);
    EXPECT_EQ(breaker.state(), BreakerState::closed);
    call(CallResult::good);
    EXPECT_EQ(breaker.state(), BreakerState::open);
    EXPECT_EQ(breaker.remaining(), 30s);
    EXPECT_EQ(put_back(), 30s);
    now += 29s;
    EXPECT_EQ(put_back(), 1s);
    EXPECT_THAT(told, ElementsAre(BreakerState::open));
}

TEST_F(BreakerLaw, looks_at_the_last_calls_only) {
    call(CallResult::good, 10);
    call(CallResult::bad, 4);
    EXPECT_EQ(breaker.calls().all, 10);
    EXPECT_EQ(breaker.calls().failed, 4);
    EXPECT_EQ(breaker.state(), BreakerState::closed);
    call(CallResult::bad);
    EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST_F(BreakerLaw, silent_calls_count_for_nothing) {
    call(CallResult::silent, 20);
    EXPECT_EQ(breaker.calls().all, 0);
    EXPECT_EQ(breaker.state(), BreakerState::closed);
}

TEST_F(BreakerLaw, lets_as_many_through_half_open_as_there_are_trials) {
    half_open();
    const auto first = let_through();
    const auto second = let_through();
    EXPECT_EQ(put_back(), 3s);
    breaker.ended(first, CallResult::good);
    EXPECT_EQ(put_back(), 3s);
    breaker.ended(second, CallResult::good);
    EXPECT_EQ(breaker.state(), BreakerState::closed);
    EXPECT_EQ(breaker.calls().all, 0);
    EXPECT_THAT(told, ElementsAre(BreakerState::open, BreakerState::half_open, BreakerState::closed));
}

TEST_F(BreakerLaw, one_bad_trial_opens_it_anew) {
    half_open();
    const auto first = let_through();
    const auto second = let_through();
    breaker.ended(first, CallResult::bad);
    EXPECT_EQ(breaker.remaining(), 30s);
    breaker.ended(second, CallResult::good);
    EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST_F(BreakerLaw, an_interrupted_trial_gives_its_permit_back) {
    half_open();
    const auto first = let_through();
    static_cast<void>(let_through());
    breaker.ended(first, CallResult::silent);
    static_cast<void>(let_through());
    put_back();
}

TEST_F(BreakerLaw, what_was_let_through_before_a_change_says_nothing_after_it) {
    const auto early = let_through();
    half_open();
    static_cast<void>(let_through());
    breaker.ended(early, CallResult::bad);
    EXPECT_EQ(breaker.state(), BreakerState::half_open);
    static_cast<void>(let_through());
    put_back();
}

TEST_F(BreakerLaw, is_opened_and_closed_by_hand) {
    breaker.open();
    put_back();
    breaker.close();
    static_cast<void>(let_through());
    EXPECT_EQ(breaker.remaining(), 0s);
}

TEST(BreakerOptions, out_of_range_are_refused_by_name) {
    struct Row {
        BreakerOptions options;
        std::string field;
    };
    const std::vector<Row> rows{{{.window = 0}, "window"},
                                {{.window = 10'001}, "window"},
                                {{.minimum_calls = 0}, "minimum_calls"},
                                {{.minimum_calls = 101}, "minimum_calls"},
                                {{.failure_rate = 0}, "failure_rate"},
                                {{.failure_rate = 1.1}, "failure_rate"},
                                {{.failure_rate = std::nan("")}, "failure_rate"},
                                {{.open_for = 0s}, "open_for"},
                                {{.open_for = 25h}, "open_for"},
                                {{.trials = 0}, "trials"}};
    for (const Row& row : rows) {
        try {
            const Breaker breaker("gateway", row.options);
            ADD_FAILURE() << row.field;
        } catch (const ConfigError& error) {
            EXPECT_EQ(error.field(), "circuit_breaker(gateway)." + row.field);
        }
    }
    EXPECT_NO_THROW(Breaker("a", BreakerOptions::quick()));
    EXPECT_NO_THROW(Breaker("a", BreakerOptions::patient()));
}

struct BreakerJudges : testing::Test {
    failure::testing::Trial trial;
    BreakerOptions options;

    CallResult of(decltype(model::Outcome::what) what) {
        const model::Decision decision = trial.decide(what);
        return failure::call_result({std::move(what), Time(100s), 1s}, decision, options, trial.notes);
    }
    CallResult threw(std::exception_ptr error) { return of(model::Threw{trial.capture(std::move(error))}); }
};

TEST_F(BreakerJudges, errors_and_time_outs_as_bad_and_answers_as_good) {
    using failure::testing::thrown;
    trial.rules().discard_on<std::overflow_error>();
    EXPECT_EQ(of(model::Done{}), CallResult::good);
    EXPECT_EQ(threw(thrown(TransientError("busy"))), CallResult::bad);
    EXPECT_EQ(threw(thrown(std::runtime_error("what"))), CallResult::bad);
    EXPECT_EQ(of(model::TimedOutRun{trial.capture(thrown(TimedOut("slow")))}), CallResult::bad);
    EXPECT_EQ(threw(thrown(PermanentError("declined"))), CallResult::good);
    EXPECT_EQ(threw(thrown(std::overflow_error("gone"))), CallResult::good);
}

TEST_F(BreakerJudges, what_a_handler_says_of_itself_as_silent) {
    EXPECT_EQ(of(model::SaidSnooze{1s}), CallResult::silent);
    EXPECT_EQ(of(model::SaidCancel{"no"}), CallResult::silent);
    EXPECT_EQ(of(model::SaidRetryAfter{.delay = 1s, .queue = {}, .priority = {}, .failure = {}}), CallResult::silent);
    EXPECT_EQ(of(model::InterruptedRun{.why = "stopping"}), CallResult::silent);
    EXPECT_EQ(of(model::LostRun{.node = "node 1"}), CallResult::silent);
}

TEST_F(BreakerJudges, by_the_predicate_and_without_it_when_it_throws) {
    using failure::testing::thrown;
    options.counts = [](const Failure& failure) { return failure.is<PermanentError>(); };
    EXPECT_EQ(threw(thrown(PermanentError("down for good"))), CallResult::bad);
    EXPECT_EQ(threw(thrown(TransientError("busy"))), CallResult::good);
    options.counts = [](const Failure&) -> bool { throw std::runtime_error("no idea"); };
    EXPECT_EQ(threw(thrown(TransientError("busy"))), CallResult::bad);
    EXPECT_EQ(trial.notes.misbehaving_policies.size(), 1U);
}

// Every permit is given back once, and the changes are told in an order that a breaker can go through.
TEST(BreakerOfManyThreads, goes_through_its_states_one_after_the_other) {
    Breaker breaker("gateway", {.window = 10, .minimum_calls = 2, .open_for = 1ms, .trials = 2});
    std::vector<BreakerState> told;
    breaker.on_change([&](BreakerState state) { told.push_back(state); });
    {
        std::vector<std::jthread> running;
        for (int thread = 0; thread < 8; ++thread) {
            running.emplace_back([&breaker, thread] {
                for (int i = 0; i < 2000; ++i) {
                    const auto answer = breaker.admit();
                    if (const auto* permit = std::get_if<Breaker::Permit>(&answer))
                        breaker.ended(*permit, (i + thread) % 3 == 0 ? CallResult::good : CallResult::bad);
                    if (i % 500 == 499) thread % 2 == 0 ? breaker.open() : breaker.close();
                }
            });
        }
    }
    ASSERT_FALSE(told.empty());
    BreakerState before = BreakerState::closed;
    for (const BreakerState state : told) {
        EXPECT_NE(state, before);
        if (state == BreakerState::half_open) {
            EXPECT_EQ(before, BreakerState::open);
        }
        before = state;
    }
    const auto calls = breaker.calls();
    EXPECT_GE(calls.failed, 0);
    EXPECT_LE(calls.failed, calls.all);
    EXPECT_LE(calls.all, 10);
}

}  // namespace
