#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/backoff.hpp>
#include <pawl/errors.hpp>

#include "unit/failure/failing_job.hpp"

using namespace std::chrono_literals;
using namespace pawl;
using pawl::failure::testing::Constant;

namespace {

constexpr int largest = std::numeric_limits<int>::max();
const std::vector<int> all_sizes{1,  2,  3,   17,    18,     22,         45,          62,     63,
                                 64, 65, 310, 55108, 100000, 2000000000, largest - 1, largest};

Duration plain(const Backoff& backoff, int n) {
    Constant random{0.5};
    return backoff.jittered(Jitter::none()).delay(n, random);
}

struct Named {
    const char* name;
    Backoff backoff;
};

std::vector<Named> every_law() {
    return {{"none", Backoff::none()},
            {"fixed", Backoff::fixed(5s)},
            {"fixed zero", Backoff::fixed(0s)},
            {"fixed max", Backoff::fixed(Duration::max()).capped(Duration::max())},
            {"exponential", Backoff::exponential(1s)},
            {"exponential 1us", Backoff::exponential(1us).capped(Duration::max())},
            {"exponential max", Backoff::exponential(Duration::max()).capped(Duration::max())},
            {"polynomial", Backoff::polynomial()},
            {"polynomial max", Backoff::polynomial().capped(Duration::max())},
            {"polynomial 1s", Backoff::polynomial().capped(1s)},
            {"list", Backoff::list({1s, 30s, 5min})},
            {"empty list", Backoff::list({})},
            {"custom", Backoff::custom([](int n) { return n * 1s; })},
            {"custom max", Backoff::custom([](int) { return Duration::max(); })},
            {"default", Backoff()}};
}

}  // namespace

// B001, P25
TEST(Backoff, stays_between_zero_and_the_cap_for_every_n_under_every_jitter) {
    for (const auto& [name, backoff] : every_law()) {
        for (const Jitter jitter :
             {Jitter::none(), Jitter::full(), Jitter::equal(), Jitter::up_to(0.15), Jitter::up_to(1)}) {
            for (const double u : {0.0, 0.25, 0.999999999, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
                for (const int n : all_sizes) {
                    Constant random{u};
                    const Duration delay = backoff.jittered(jitter).delay(n, random);
                    ASSERT_TRUE(delay.valid());
                    ASSERT_GE(delay, Duration()) << name << " n=" << n << " u=" << u;
                    ASSERT_LE(delay, backoff.cap()) << name << " n=" << n << " u=" << u;
                }
            }
        }
    }
}

// B001
TEST(Backoff, never_shrinks_as_n_grows_without_jitter) {
    for (const auto& [name, backoff] : every_law()) {
        Duration before;
        for (const int n : all_sizes) {
            ASSERT_GE(plain(backoff, n), before) << name << " n=" << n;
            before = plain(backoff, n);
        }
    }
}

// B003
TEST(Backoff, equals_the_cap_from_saturation_on) {
    const auto backoff = Backoff::exponential(2s).capped(120s);
    for (int n = 7; n <= 45; ++n) EXPECT_EQ(plain(backoff, n), Duration(120s)) << n;
    EXPECT_EQ(plain(backoff, largest), Duration(120s));
}

// B006, P4
TEST(Backoff, doubles_the_first_wait_each_time) {
    const std::vector<Duration> documented{10s, 20s, 40s, 80s, 160s};
    for (std::size_t i = 0; i < documented.size(); ++i) {
        EXPECT_EQ(plain(Backoff::exponential(10s), static_cast<int>(i) + 1), documented[i]);
    }
}

// A8, A24
TEST(Backoff, polynomial_is_the_fourth_power_plus_two_with_jitter_on_the_power_alone) {
    EXPECT_EQ(plain(Backoff::polynomial(), 1), Duration(3s));
    EXPECT_EQ(plain(Backoff::polynomial(), 2), Duration(18s));
    EXPECT_EQ(plain(Backoff::polynomial(), 3), Duration(83s));
    Constant half{0.5};
    EXPECT_EQ(Backoff::polynomial().jittered(Jitter::up_to(0.5)).delay(2, half), Duration(16s + 4s + 2s));
    EXPECT_EQ(Backoff::polynomial().jittered(Jitter::full()).delay(2, half), Duration(8s + 2s));
}

// R8, R9, R25
TEST(Backoff, list_repeats_its_last_and_is_immediate_when_empty) {
    const auto list = Backoff::list({1s, 30s});
    EXPECT_EQ(plain(list, 1), Duration(1s));
    EXPECT_EQ(plain(list, 2), Duration(30s));
    EXPECT_EQ(plain(list, 3), Duration(30s));
    EXPECT_EQ(plain(list, largest), Duration(30s));
    EXPECT_EQ(plain(Backoff::list({}), 1), Duration());
}

TEST(Backoff, takes_an_n_below_one_as_one) {
    for (const int n : {0, -1, std::numeric_limits<int>::min()})
        EXPECT_EQ(plain(Backoff::exponential(1s), n), Duration(1s));
}

// P5, P6, P26
TEST(Backoff, default_is_exponential_from_one_second_capped_at_ten_minutes_with_equal_jitter) {
    const Backoff backoff;
    EXPECT_EQ(backoff.jitter(), Jitter::equal());
    EXPECT_EQ(plain(backoff, 1), Duration(1s));
    EXPECT_EQ(plain(backoff, 11), Duration(10min));
    EXPECT_EQ(Backoff::exponential(2s).jitter(), Jitter::equal());
    EXPECT_NE(Backoff::polynomial().jitter(), Jitter::none());
    EXPECT_EQ(Backoff::fixed(2s).cap(), Duration(24h));
}

TEST(Backoff, converts_from_a_duration) {
    const Backoff backoff = 5s;
    EXPECT_EQ(backoff.law(), Backoff::Law::fixed);
    EXPECT_EQ(plain(backoff, 9), Duration(5s));
}

// P6, P7, A24
TEST(Jitter, follows_its_law) {
    struct Row {
        Jitter jitter;
        double u;
        Duration delay;
    };
    const std::vector<Row> rows{
        {Jitter::none(), 0.5, 100s},
        {Jitter::full(), 0, 0s},
        {Jitter::full(), 0.5, 50s},
        {Jitter::equal(), 0, 50s},
        {Jitter::equal(), 0.5, 75s},
        {Jitter::up_to(0.15), 0, 100s},
        {Jitter::up_to(0.5), 0.5, 125s},
        {Jitter::scaled(0.5, 1.5), 0, 50s},
        {Jitter::scaled(0.5, 1.5), 0.5, 100s},
    };
    for (const Row& row : rows) {
        Constant random{row.u};
        const auto draw = Backoff::fixed(100s).jittered(row.jitter).draw(1, random);
        EXPECT_EQ(draw.delay, row.delay);
        EXPECT_EQ(draw.jitter.count(), row.delay.count() - Duration(100s).count());
    }
}

// P7
TEST(Jitter, scaled_applies_after_the_cap_and_may_exceed_it_by_its_upper_factor) {
    Constant almost_one{0.9999999};
    const auto backoff = Backoff::exponential(1s).capped(10min).jittered(Jitter::scaled(0.5, 1.5));
    EXPECT_GT(backoff.delay(30, almost_one), Duration(14min));
    EXPECT_LE(backoff.delay(30, almost_one), Duration(15min));
    EXPECT_GE(
        Backoff::fixed(Duration::max()).capped(Duration::max()).jittered(Jitter::scaled(2, 100)).delay(1, almost_one),
        Duration(24h));
}

TEST(Backoff, refuses_values_that_are_none) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(static_cast<void>(Backoff::fixed(-1s)), ConfigError);
    EXPECT_THROW(static_cast<void>(Backoff::exponential(std::chrono::duration<double>(nan))), ConfigError);
    EXPECT_THROW(static_cast<void>(Backoff::list({1s, -1s})), ConfigError);
    EXPECT_THROW(static_cast<void>(Backoff::none().capped(-1s)), ConfigError);
    EXPECT_THROW(static_cast<void>(Backoff::custom(nullptr)), ConfigError);
    for (const double bad : {-0.1, 1.1, nan}) EXPECT_THROW(static_cast<void>(Jitter::up_to(bad)), ConfigError);
    EXPECT_THROW(static_cast<void>(Jitter::scaled(1.5, 0.5)), ConfigError);
    EXPECT_THROW(static_cast<void>(Jitter::scaled(nan, nan)), ConfigError);
}

TEST(Backoff, lets_out_what_a_custom_law_throws_or_returns_as_nonsense) {
    Constant random{0};
    EXPECT_THROW(static_cast<void>(Backoff::custom([](int) -> Duration { throw 7; }).delay(1, random)), int);
    EXPECT_THROW(static_cast<void>(Backoff::custom([](int) -> Duration { return -1s; }).delay(1, random)), ConfigError);
}
