#include "failure/budget.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using failure::Budget;
using std::chrono::microseconds;

/// A budget on a clock that the test moves.
struct BudgetLaw : testing::Test {
    Budget::SteadyTime now{1h};
    Budget budget = with({.ratio = 0.5, .at_least = 6});

    [[nodiscard]] Budget with(RetryBudget options) {
        return Budget(options, [this] { return now; });
    }
    static void first_runs(Budget& of, int count) {
        for (int i = 0; i < count; ++i) of.count_first_run();
    }
    static std::vector<microseconds> turns(Budget& of, int count) {
        std::vector<microseconds> turns;
        for (int i = 0; i < count; ++i) turns.push_back(of.take_turn());
        return turns;
    }
};

TEST_F(BudgetLaw, delays_nothing_within_a_minute_s_worth) {
    EXPECT_EQ(turns(budget, 6), std::vector<microseconds>(6, 0us));
}

TEST_F(BudgetLaw, gives_what_is_above_a_turn_each_as_far_apart_as_the_budget_says) {
    (void)turns(budget, 6);
    EXPECT_EQ(turns(budget, 3), (std::vector<microseconds>{10s, 20s, 30s}));
    // Time gives turns back.
    now += 40s;
    EXPECT_EQ(budget.take_turn(), 0us);
}

TEST_F(BudgetLaw, grows_with_the_first_runs_of_the_last_minute) {
    first_runs(budget, 120);
    EXPECT_EQ(turns(budget, 60), std::vector<microseconds>(60, 0us));
    EXPECT_EQ(budget.take_turn(), 1s);
    now += 5min;
    EXPECT_EQ(budget.counted().first_runs, 0);
    (void)turns(budget, 6);
    EXPECT_EQ(budget.take_turn(), 10s);
}

TEST_F(BudgetLaw, counts_the_last_minute) {
    budget.count_first_run();
    (void)budget.take_turn();
    for (const auto& [later, left] : std::vector<std::pair<std::chrono::seconds, int>>{{0s, 1}, {54s, 1}, {6s, 0}}) {
        now += later;
        EXPECT_EQ(budget.counted().first_runs, left);
        EXPECT_EQ(budget.counted().retries, left);
    }
}

TEST_F(BudgetLaw, takes_the_part_that_its_own_retries_are_of_all) {
    // Others have 90 first runs and 3 retries; with 10 first runs here, 50 retries a minute are allowed in all.
    first_runs(budget, 10);
    budget.hear_of_others({90, 3});
    EXPECT_EQ(budget.take_turn(), 0us) << "a quarter of 50";
    (void)turns(budget, 2);
    // Half of 50 now: 25 a minute, of which some have been taken.
    int granted = 3;
    while (budget.take_turn() == 0us) ++granted;
    EXPECT_GT(granted, 12);
    EXPECT_LT(granted, 50);
}

TEST_F(BudgetLaw, delays_none_for_longer_than_it_may) {
    Budget strict = with({.ratio = 0, .at_least = 1, .longest_delay = 90s});
    EXPECT_EQ(turns(strict, 5), (std::vector<microseconds>{0s, 60s, 90s, 90s, 90s}));
    strict.hear_of_others({0, 1'000'000'000'000});
    EXPECT_EQ(strict.take_turn(), 90s);
}

TEST_F(BudgetLaw, without_a_ratio_has_what_is_always_within_it) {
    Budget strict = with({.ratio = 0, .at_least = 2});
    first_runs(strict, 1000);
    EXPECT_EQ(turns(strict, 3), (std::vector<microseconds>{0s, 0s, 30s}));
}

TEST(BudgetOfManyThreads, grants_each_turn_once) {
    const Budget::SteadyTime now{1h};
    Budget budget({.ratio = 0, .at_least = 60, .longest_delay = 24h}, [now] { return now; });
    constexpr int threads = 8;
    constexpr int each = 500;
    std::vector<std::vector<microseconds>> taken(threads);
    {
        std::vector<std::jthread> running;
        for (std::vector<microseconds>& mine : taken) {
            running.emplace_back([&] {
                for (int i = 0; i < each; ++i) {
                    budget.count_first_run();
                    mine.push_back(budget.take_turn());
                }
            });
        }
    }
    std::vector<microseconds> all;
    for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i], i < 60 ? 0s : std::chrono::seconds(i - 59));
    }
    EXPECT_EQ(budget.counted().retries, threads * each);
    EXPECT_EQ(budget.counted().first_runs, threads * each);
}

}  // namespace
