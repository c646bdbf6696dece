#include "failure/capture.hpp"

#include <filesystem>
#include <future>
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

namespace capture_test {

struct Silent : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};
struct Plain {};
struct Left : std::runtime_error {
    Left() : runtime_error("left") {}
};
struct Right : std::runtime_error {
    Right() : runtime_error("right") {}
};
struct Ambiguous : Left, Right {};
struct Secretive : private std::runtime_error {
    Secretive() : runtime_error("private base") {}
};
struct CarriesCause : std::nested_exception {};
struct Knot : std::nested_exception {
    using std::nested_exception::nested_exception;
};

}  // namespace capture_test

using namespace capture_test;

// A31
TEST(Capture, names_the_concrete_type_of_whatever_was_thrown) {
    struct Local {};
    struct Row {
        std::exception_ptr error;
        std::string type;
        std::string message;
    };
    const std::vector<Row> rows{
        {thrown(std::runtime_error("boom")), "std::runtime_error", "boom"},
        {thrown(7), "int", ""},
        {thrown(Plain{}), "capture_test::Plain", ""},
        {thrown(std::string("text")), "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
         "text"},
        {thrown_by([] { throw "literal"; }), "char const*", "literal"},
        {thrown_by([] { throw static_cast<const char*>(nullptr); }), "char const*", ""},
        {thrown(Silent{}), "capture_test::Silent", ""},
        {thrown(Ambiguous{}), "capture_test::Ambiguous", ""},
        {thrown(Secretive{}), "capture_test::Secretive", ""},
        {nested(Left(), thrown(7)), "capture_test::Left", "left"},
        {thrown(std::make_exception_ptr(Left())), "capture_test::Left", "left"},
        {thrown(std::make_exception_ptr(std::make_exception_ptr(7))), "std::__exception_ptr::exception_ptr", ""},
        {nullptr, "unknown", "nothing was captured"},
    };
    for (const Row& row : rows) {
        const auto failure = captured(row.error);
        EXPECT_EQ(failure->type(), row.type);
        EXPECT_EQ(failure->message(), row.message);
    }
    EXPECT_NE(captured(thrown(Local{}))->type().find("Local"), std::string_view::npos);
}

TEST(Capture, keeps_the_facts_of_the_job) {  // R5
    auto job = a_job();
    job.facts.attempts = 2;
    const auto failure = captured(thrown(7), {}, job);
    EXPECT_EQ(failure->job_id(), 42);
    EXPECT_EQ(failure->kind(), "billing.charge_card");
    EXPECT_EQ(failure->queue(), "default");
    EXPECT_EQ(failure->payload(), R"({"order_id":42})");
    EXPECT_EQ(failure->attempt(), 3);  // R22
    EXPECT_EQ(failure->started_at(), Time(100s));
    EXPECT_EQ(failure->failed_at(), Time(101s));
}

TEST(Capture, looks_at_the_live_exception_as_catch_does) {
    const auto error = captured(nested(Left(), thrown(7)));
    EXPECT_TRUE(error->is<Left>());
    EXPECT_TRUE(error->is<std::runtime_error>());
    EXPECT_TRUE(error->is<std::nested_exception>());
    EXPECT_FALSE(error->is<Right>());
    EXPECT_FALSE(error->is<int>());
    EXPECT_TRUE(error->involves<int>());
    EXPECT_STREQ(error->as<std::exception>()->what(), "left");
    EXPECT_EQ(*captured(thrown(7))->as<int>(), 7);
    EXPECT_FALSE(captured(thrown(Ambiguous{}))->is<std::exception>());
    EXPECT_TRUE(captured(thrown(Ambiguous{}))->is<Left>());
    EXPECT_FALSE(captured(thrown(Secretive{}))->is<std::runtime_error>());
    EXPECT_FALSE(captured(nullptr)->is<std::exception>());
    EXPECT_EQ(captured(nullptr)->as<int>(), nullptr);
}

TEST(Capture, follows_causes_also_of_things_that_are_no_exceptions) {
    const auto carrier = thrown_by([] {
        try {
            throw Right();
        } catch (...) {
            throw CarriesCause();
        }
    });
    const auto failure = captured(nested(Left(), carrier));
    ASSERT_EQ(failure->causes(), 2U);
    EXPECT_EQ(failure->cause(0).type(), "capture_test::CarriesCause");
    EXPECT_EQ(failure->cause(1).type(), "capture_test::Right");
    EXPECT_EQ(failure->cause(0).cause(0).message(), "right");
    EXPECT_EQ(failure->cause(9).message(), "right");
    EXPECT_FALSE(failure->truncated());
}

TEST(Capture, keeps_32_links_of_a_chain_of_10000) {
    std::exception_ptr error = thrown(Right());
    for (int depth = 0; depth < 10000; ++depth) error = nested(Left(), error);
    const auto failure = captured(error);
    EXPECT_EQ(failure->causes(), 31U);
    EXPECT_TRUE(failure->truncated());
}

TEST(Capture, stops_where_a_chain_runs_in_a_circle) {
    const auto first = thrown(Knot());
    auto& knot = const_cast<Knot&>(*detail::caught<Knot>(first));
    try {
        std::rethrow_exception(first);
    } catch (...) {
        static_cast<std::nested_exception&>(knot) = std::nested_exception();
    }
    const auto failure = captured(first);
    EXPECT_EQ(failure->causes(), 0U);
    EXPECT_TRUE(failure->truncated());
    static_cast<std::nested_exception&>(knot) = std::nested_exception();  // or it would leak
}

// P1
TEST(Capture, finds_the_error_code_that_it_carries) {
    const auto refused = std::make_error_code(std::errc::connection_refused);
    EXPECT_EQ(captured(thrown(std::system_error(refused)))->error_code(), refused);
    EXPECT_EQ(captured(thrown(std::filesystem::filesystem_error("x", refused)))->error_code(), refused);
    EXPECT_EQ(captured(thrown(refused))->error_code(), refused);
    EXPECT_EQ(captured(thrown(std::errc::connection_refused))->error_code(), refused);
    EXPECT_TRUE(captured(thrown(std::future_error(std::future_errc::broken_promise)))->error_code());
    EXPECT_FALSE(captured(thrown(7))->error_code());
}

TEST(Capture, keeps_what_was_being_handled_as_the_cause_of_what_a_handler_says) {
    const auto said = thrown_by([] {
        try {
            throw Left();
        } catch (...) {
            throw RetryAfter{.delay = 5s};
        }
    });
    const auto failure = captured(said);
    EXPECT_EQ(failure->type(), "pawl::RetryAfter");
    ASSERT_EQ(failure->causes(), 1U);
    EXPECT_TRUE(failure->cause(0).is<Left>());
    EXPECT_EQ(captured(thrown(Discard{.reason = "gone"}))->message(), "gone");
}

TEST(Capture, makes_the_errors_of_time_limits_and_ended_threads) {
    const auto late = captured(failure::timed_out(30s, thrown(Left())));
    EXPECT_EQ(late->type(), "pawl::TimedOut");
    EXPECT_EQ(late->cause(0).type(), "capture_test::Left");
    EXPECT_EQ(late->error_class(), ErrorClass::transient);
    EXPECT_EQ(captured(failure::timed_out(30s, nullptr))->causes(), 0U);
    EXPECT_EQ(captured(failure::thread_exited())->type(), "pawl::ThreadExited");
}

TEST(Control, says_nothing_that_a_catch_of_std_exception_takes) {
    static_assert(!std::is_base_of_v<std::exception, Snooze> && !std::is_base_of_v<std::exception, Cancel>);
    static_assert(!std::is_base_of_v<std::exception, RetryAfter> && !std::is_base_of_v<std::exception, Discard>);
    static_assert(!std::is_base_of_v<std::exception, WorkerFatal> && !std::is_base_of_v<std::exception, Interrupted>);
    EXPECT_TRUE(Interrupted(7, 42).belongs_to(7, 42));
    EXPECT_FALSE(Interrupted(7, 42).belongs_to(8, 42));
    EXPECT_FALSE(Interrupted(7, 42).belongs_to(7, 43));
}
