#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>
#include <pawl/rules.hpp>

#include "unit/failure/failing_job.hpp"

using namespace pawl;
using namespace std::chrono_literals;

namespace rules_test {
struct Busy : std::runtime_error {
    using runtime_error::runtime_error;
};
template <class T>
struct A_type_with_a_rather_long_name_that_is_repeated_in_its_argument {};
}  // namespace rules_test

using namespace rules_test;

// A5, A9, A13
TEST(Rules, have_the_documented_defaults) {
    const RetryRule rule;
    EXPECT_EQ(rule.attempts, 5);
    EXPECT_EQ(rule.wait.duration(), Duration(3s));
    EXPECT_DOUBLE_EQ(rule.jitter, 0.15);
    EXPECT_FALSE(rule.queue || rule.priority);
}

// A14, A21
TEST(Rules, are_counted_under_the_printed_types_in_declared_order) {
    Rules rules;
    rules.retry_on<Busy, std::runtime_error, int>().retry_on<int>({.key = "mine"}).discard_on<std::logic_error>();
    const auto& declared = rules.rule_book().rules();
    EXPECT_EQ(declared[0].key, "rules_test::Busy,std::runtime_error,int");
    EXPECT_EQ(declared[1].key, "mine");
    EXPECT_EQ(declared[2].key, "std::logic_error");
}

TEST(Rules, hash_a_key_above_200_bytes_alike_everywhere) {
    using Long = A_type_with_a_rather_long_name_that_is_repeated_in_its_argument<
        A_type_with_a_rather_long_name_that_is_repeated_in_its_argument<
            A_type_with_a_rather_long_name_that_is_repeated_in_its_argument<int>>>;
    Rules rules;
    rules.retry_on<Long>().retry_on<Long>().retry_on<Long, int>();
    const auto& declared = rules.rule_book().rules();
    EXPECT_TRUE(declared[0].key.starts_with("types-"));
    EXPECT_EQ(declared[0].key, declared[1].key);
    EXPECT_NE(declared[0].key, declared[2].key);
}

// A20
TEST(Rules, refuse_at_declaration_what_cannot_be) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<RetryRule> wrong{
        {.attempts = -1},
        {.wait = -1s},
        {.wait = Duration::max()},
        {.wait = std::chrono::duration<double>(nan)},
        {.wait = static_cast<Duration (*)(int)>(nullptr)},
        {.wait = static_cast<Duration (*)(int, const Failure&)>(nullptr)},
        {.jitter = -0.1},
        {.jitter = nan},
        {.jitter = 1.1},
        {.queue = ""},
        {.priority = static_cast<Priority>(99)},
        {.key = ":plan"},
        {.key = std::string(201, 'x')},
        {.key = std::string("a\0b", 3)},
    };
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        Rules rules;
        EXPECT_THROW(rules.retry_on<Busy>(wrong[i]), ConfigError) << i;
        EXPECT_TRUE(rules.rule_book().rules().empty());
    }
    Rules rules;
    EXPECT_THROW(rules.after_discard(nullptr), ConfigError);
    EXPECT_THROW(rules.on_exhausted(nullptr), ConfigError);
    EXPECT_THROW(rules.retry_with(nullptr), ConfigError);
    static_assert(!std::is_constructible_v<Wait, std::string> && !std::is_constructible_v<Wait, int>);
}

// A6, A7, A8, A26
TEST(Wait, takes_durations_callables_and_polynomially_longer) {
    const auto failure = failure::testing::captured(std::make_exception_ptr(7));
    EXPECT_EQ(Wait(1500ms).duration(), Duration(1500ms));
    EXPECT_EQ(Wait(polynomially_longer).law(), Wait::Law::polynomial);
    EXPECT_EQ(Wait([](int n) { return n * 2s; }).function()(3, *failure), Duration(6s));
    EXPECT_EQ(Wait([](int n, const Failure& error) {
                  return n * std::chrono::seconds(*error.as<int>());
              }).function()(3, *failure),
              Duration(21s));
    EXPECT_EQ(Wait([](auto... all) { return std::chrono::seconds(sizeof...(all)); }).function()(3, *failure),
              Duration(2s));
}

// A30
TEST(Rules, inherit_a_snapshot_as_if_it_was_declared_before) {
    Rules base;
    base.retry_on<int>({.key = "base"}).after_discard([](const Failure&) {});
    Rules kind;
    kind.retry_on<int>({.key = "own"}).inherit(base);
    base.retry_on<int>({.key = "later"});
    ASSERT_EQ(kind.rule_book().rules().size(), 2U);
    EXPECT_EQ(kind.rule_book().rules()[0].key, "base");
    EXPECT_EQ(kind.rule_book().rules()[1].key, "own");
    EXPECT_EQ(kind.rule_book().after_discard().size(), 1U);
}
