#include "model/backoff_text.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>

using namespace std::chrono_literals;
using namespace pawl;
using model::parse_backoff;
using model::to_text;

TEST(BackoffText, prints_the_documented_notation) {
    struct Row {
        Backoff backoff;
        const char* text;
    };
    const std::vector<Row> rows{
        {Backoff::none(), "none"},
        {Backoff::fixed(5s), "fixed 5s capped 1d no_jitter"},
        {Backoff::exponential(2s).capped(10min), "exponential 2s capped 10min equal"},
        {Backoff::exponential(1500ms).jittered(Jitter::full()), "exponential 1500ms capped 1d full"},
        {Backoff::polynomial(), "polynomial capped 1d up_to 0.15"},
        {Backoff::list({1s, 30s, 5min}), "list 1s 30s 5min capped 1d no_jitter"},
        {Backoff::list({}), "list capped 1d no_jitter"},
        {Backoff::fixed(0s).jittered(Jitter::scaled(0.5, 1.5)), "fixed 0s capped 1d scaled 0.5 1.5"},
        {Backoff::fixed(Duration::max()).capped(Duration::max()),
         "fixed 9223372036854775807us capped 9223372036854775807us no_jitter"},
        {Backoff(), "exponential 1s capped 10min equal"},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(to_text(row.backoff), row.text);
        EXPECT_EQ(to_text(parse_backoff(row.text)), row.text);
    }
}

TEST(BackoffText, reads_what_people_write) {
    EXPECT_EQ(to_text(parse_backoff("exponential 2s")), "exponential 2s capped 1d equal");
    EXPECT_EQ(to_text(parse_backoff("  fixed   90s  full ")), "fixed 90s capped 1d full");
    EXPECT_EQ(to_text(parse_backoff("none")), "none");
}

TEST(BackoffText, refuses_what_is_not_in_the_notation) {
    for (const char* text : {"",
                             " ",
                             "slow",
                             "fixed",
                             "fixed 5",
                             "fixed -5s",
                             "fixed 5 s",
                             "fixed 1.5s",
                             "exponential 2s capped",
                             "exponential 2s equal capped 10min",
                             "fixed 5s up_to",
                             "fixed 5s up_to x",
                             "fixed 5s up_to 2",
                             "fixed 5s up_to nan",
                             "fixed 5s scaled 1.5 0.5",
                             "none none",
                             "fixed 9223372036854775807s",
                             "fixed 99999999999999999999s",
                             "custom",
                             "fixed 5s\tequal"}) {
        EXPECT_THROW(static_cast<void>(parse_backoff(text)), ConfigError) << text;
    }
    EXPECT_THROW(static_cast<void>(to_text(Backoff::custom([](int) { return 1s; }))), ConfigError);
}
