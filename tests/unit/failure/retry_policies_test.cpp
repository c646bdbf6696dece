#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>
#include <pawl/retry_policies.hpp>

#include "failure/breaker.hpp"
#include "unit/failure/failing_job.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using failure::testing::captured;
using failure::testing::Constant;
using failure::testing::thrown;

const Failure busy = *captured(thrown(TransientError("busy")));
const Failure unknown = *captured(thrown(std::runtime_error("what")));

/// Says yes, and always the same delay.
class Always final : public RetryPolicy {
public:
    explicit Always(Duration delay) : delay_(delay) {}
    [[nodiscard]] bool should_retry(int, const Failure&) const override { return true; }
    [[nodiscard]] Duration delay(int, const Failure&) const override { return delay_; }

private:
    Duration delay_;
};

/// Says no.
class Never final : public RetryPolicy {
public:
    [[nodiscard]] bool should_retry(int, const Failure&) const override { return false; }
    [[nodiscard]] Duration delay(int, const Failure&) const override { return {}; }
};

TEST(ExponentialRetryPolicy, doubles_up_to_its_cap_and_ends) {
    const ExponentialRetryPolicy policy(
        {.max_retries = 3, .first = 1s, .cap = 3s, .jitter = Jitter::none(), .random = std::make_shared<Constant>(0)});
    EXPECT_EQ(policy.delay(1, busy), Duration(1s));
    EXPECT_EQ(policy.delay(2, busy), Duration(2s));
    EXPECT_EQ(policy.delay(3, busy), Duration(3s));
    EXPECT_TRUE(policy.should_retry(3, busy));
    EXPECT_FALSE(policy.should_retry(4, busy));
}

TEST(ExponentialRetryPolicy, draws_its_jitter_and_never_leaves_it_to_the_job) {
    const ExponentialRetryPolicy policy(
        {.first = 1s, .jitter = Jitter::full(), .random = std::make_shared<Constant>(0)});
    EXPECT_GT(policy.delay(1, busy), Duration());
}

TEST(RoutingRetryPolicy, asks_the_first_whose_type_would_catch) {
    RoutingRetryPolicy policy(std::make_shared<Always>(1s));
    policy.route<TimedOut>(std::make_shared<Always>(2s))
        .route<TransientError>(std::make_shared<Always>(3s))
        .route<PermanentError>(std::make_shared<Never>());
    EXPECT_EQ(policy.delay(1, *captured(thrown(TimedOut("slow")))), Duration(2s));
    EXPECT_EQ(policy.delay(1, busy), Duration(3s));
    EXPECT_EQ(policy.delay(1, unknown), Duration(1s));
    EXPECT_FALSE(policy.should_retry(1, *captured(thrown(PermanentError("no")))));
}

TEST(RoutingRetryPolicy, refuses_a_route_without_a_policy) {
    RoutingRetryPolicy policy;
    EXPECT_THROW(policy.route<TimedOut>(nullptr), ConfigError);
}

struct RateLimited : testing::Test {
    std::chrono::steady_clock::time_point now{1h};

    RateLimitedRetryPolicy::Settings two_per_10s(AboveRate above) {
        return {.retries = 2, .window = 10s, .above = above, .now = [this] { return now; }};
    }
};

TEST_F(RateLimited, what_is_above_waits_into_the_next_window_with_room) {
    const RateLimitedRetryPolicy policy(two_per_10s(AboveRate::wait), std::make_shared<Always>(1s));
    EXPECT_EQ(policy.delay(1, busy), Duration(1s));
    EXPECT_EQ(policy.delay(1, busy), Duration(1s));
    EXPECT_EQ(policy.delay(1, busy), Duration(10s));
    EXPECT_EQ(policy.delay(1, busy), Duration(10s));
    EXPECT_EQ(policy.delay(1, busy), Duration(20s));
    now += 10s;  // The second window is the present one now, and full.
    EXPECT_EQ(policy.delay(1, busy), Duration(10s));
    now += 20s;
    EXPECT_EQ(policy.delay(1, busy), Duration(1s));
}

TEST_F(RateLimited, delays_count_in_the_window_in_which_they_end) {
    const RateLimitedRetryPolicy policy(two_per_10s(AboveRate::wait), std::make_shared<Always>(25s));
    EXPECT_EQ(policy.delay(1, busy), Duration(25s));
    EXPECT_EQ(policy.delay(1, busy), Duration(25s));
    EXPECT_EQ(policy.delay(1, busy), Duration(30s));
}

TEST_F(RateLimited, gives_each_place_of_a_window_once_however_many_threads_ask) {
    constexpr int threads = 8;
    constexpr int each = 250;
    const RateLimitedRetryPolicy policy(
        {.retries = 100, .window = 10s, .above = AboveRate::wait, .now = [this] { return now; }},
        std::make_shared<Always>(1s));
    std::vector<std::vector<Duration>> delays(threads);
    {
        std::vector<std::jthread> running;
        for (std::vector<Duration>& mine : delays) {
            running.emplace_back([&] {
                for (int i = 0; i < each; ++i) mine.push_back(policy.delay(1, busy));
            });
        }
    }
    std::map<std::chrono::microseconds, int> places;
    for (const auto& mine : delays) {
        for (const Duration delay : mine) ++places[delay.microseconds()];
    }
    EXPECT_EQ(places.size(), std::size_t{threads * each / 100});
    for (const auto& [delay, count] : places) EXPECT_EQ(count, 100) << delay.count();
}

TEST_F(RateLimited, may_give_up_what_is_above) {
    const RateLimitedRetryPolicy policy(two_per_10s(AboveRate::give_up));
    EXPECT_TRUE(policy.should_retry(1, busy));
    EXPECT_TRUE(policy.should_retry(1, busy));
    EXPECT_FALSE(policy.should_retry(1, busy));
    now += 10s;
    EXPECT_TRUE(policy.should_retry(1, busy));
}

TEST_F(RateLimited, lets_the_inner_policy_refuse_without_taking_a_place) {
    const RateLimitedRetryPolicy policy(two_per_10s(AboveRate::give_up), std::make_shared<Never>());
    EXPECT_FALSE(policy.should_retry(1, busy));
}

TEST(BreakerAwareRetryPolicy, waits_at_least_as_long_as_the_breaker_stays_open) {
    std::chrono::steady_clock::time_point now{1h};
    CircuitBreaker breaker(
        std::make_shared<failure::Breaker>("gateway", BreakerOptions{.open_for = 30s}, [&now] { return now; }));
    const BreakerAwareRetryPolicy policy(breaker, std::make_shared<Always>(5s));
    EXPECT_EQ(policy.delay(1, busy), Duration(5s));
    breaker.open();
    EXPECT_EQ(policy.delay(1, busy), Duration(30s));
    now += 28s;
    EXPECT_EQ(policy.delay(1, busy), Duration(5s));
}

TEST(RetryPolicies, refuse_settings_out_of_range_by_name) {
    const auto field_of = [](auto make) -> std::string {
        try {
            make();
        } catch (const ConfigError& error) {
            return std::string(error.field());
        }
        return "none";
    };
    using Exponential = ExponentialRetryPolicy;
    using Rate = RateLimitedRetryPolicy;
    EXPECT_EQ(field_of([] { Exponential({.max_retries = -1}); }), "max_retries");
    EXPECT_EQ(field_of([] { Exponential({.first = 0s}); }), "first");
    EXPECT_EQ(field_of([] { Exponential({.first = 2s, .cap = 1s}); }), "cap");
    EXPECT_EQ(field_of([] { Rate({.retries = 0}); }), "retries");
    EXPECT_EQ(field_of([] { Rate({.window = 0s}); }), "window");
}

}  // namespace
