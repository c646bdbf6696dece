#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

#include <pawl/detail/invoker.hpp>
#include <pawl/json.hpp>

#include "unit/api/run_context.hpp"

namespace {

using namespace std::chrono_literals;
using pawl::JobContext;
using pawl::detail::HandlerDone;
using pawl::detail::HandlerReply;
using pawl::detail::Invoker;
using pawl::detail::make_invoker;

struct Add {
    int a{};
    int b{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Add, a, b)
};

struct Ping {};

struct Odd {
    double value{};
};
void to_json(nlohmann::json& json, const Odd& odd) { json = {{"value", odd.value}}; }

HandlerReply run(const Invoker& invoker, std::string_view payload = R"({"a":2,"b":3})") {
    pawl::test::RunContext run;
    return invoker.decode(payload)->run(run.context);
}

std::string result_of(const HandlerReply& reply) { return std::get<HandlerDone>(reply).result.value_or("none"); }

int free_function(const Add& job) { return job.a; }

class Service {
public:
    int add(const Add& job) { return calls_ += job.a + job.b; }
    int add_in(const Add& job, JobContext& context) const { return job.a + static_cast<int>(context.id()); }
    void ping(Ping) noexcept { ++calls_; }

    int calls_ = 0;
};

template <class Object, class Method>
auto member(Object& object, Method method) {
    return pawl::detail::MemberHandler<Object, Method>{&object, method};
}

TEST(Invoker, calls_each_shape_of_handler) {
    Service service;
    EXPECT_EQ(result_of(run(*make_invoker<Add>([](const Add& job) { return job.a + job.b; }))), "5");
    EXPECT_EQ(result_of(run(*make_invoker<Add>([](Add job) { return job.a + job.b; }))), "5");
    EXPECT_EQ(result_of(run(*make_invoker<Add>([](const auto& job) { return job.b; }))), "3");
    EXPECT_EQ(
        result_of(run(*make_invoker<Add>([](const Add& job, JobContext& context) { return job.a + context.id(); }))),
        "44");
    EXPECT_EQ(result_of(run(*make_invoker<Add>(&free_function))), "2");
    EXPECT_EQ(result_of(run(*make_invoker<Add>(free_function))), "2");
    EXPECT_EQ(result_of(run(*make_invoker<Add>(member(service, &Service::add)))), "5");
    EXPECT_EQ(result_of(run(*make_invoker<Add>(member(service, &Service::add_in)))), "44");
    EXPECT_EQ(result_of(run(*make_invoker<Ping>(member(service, &Service::ping)), "{}")), "none");
    EXPECT_EQ(service.calls_, 6);
}

TEST(Invoker, hands_a_job_over_that_is_taken_by_value) {
    const auto handler = make_invoker<std::string>([](std::string text) { return text + "!"; });
    EXPECT_EQ(result_of(run(*handler, "\"a\"")), "\"a!\"");
}

TEST(Invoker, turns_each_return_into_its_reply) {
    EXPECT_EQ(result_of(run(*make_invoker<Add>([](const Add&) {}))), "none");
    EXPECT_EQ(result_of(run(*make_invoker<Add>([](const Add&) { return std::string("x"); }))), "\"x\"");
    EXPECT_EQ(result_of(run(*make_invoker<Add>([](const Add&) -> pawl::Reply<int> { return 4; }))), "4");
    EXPECT_EQ(result_of(run(*make_invoker<Add>([](const Add&) -> pawl::Reply<> { return std::monostate{}; }))), "none");

    const auto snoozed = run(*make_invoker<Add>([](const Add&) -> pawl::Reply<int> { return pawl::Snooze{5s}; }));
    EXPECT_EQ(std::get<pawl::Snooze>(snoozed).delay, pawl::Duration(5s));
    const auto plain = run(*make_invoker<Add>([](const Add&) { return pawl::Snooze{1s}; }));
    EXPECT_EQ(std::get<pawl::Snooze>(plain).delay, pawl::Duration(1s));
    const auto canceled = run(*make_invoker<Add>([](const Add&) -> pawl::Reply<> { return pawl::Cancel{"moot"}; }));
    EXPECT_EQ(std::get<pawl::Cancel>(canceled).reason, "moot");
}

TEST(Invoker, lets_through_what_the_handler_throws) {
    const auto invoker = make_invoker<Add>([](const Add&) { throw std::logic_error("handler"); });
    EXPECT_THROW(static_cast<void>(run(*invoker)), std::logic_error);
    const auto integer = make_invoker<Add>([](const Add&) -> int { throw 7; });
    EXPECT_THROW(static_cast<void>(run(*integer)), int);
}

TEST(Invoker, keeps_a_job_done_whose_result_cannot_be_encoded) {  // B170
    int runs = 0;
    const auto invoker = make_invoker<Add>([&](const Add&) {
        ++runs;
        return Odd{std::numeric_limits<double>::quiet_NaN()};
    });
    const auto done = std::get<HandlerDone>(run(*invoker));
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(done.result, R"({"pawl": "result not encodable"})");
    EXPECT_NE(done.result_lost.find("finite"), std::string::npos) << done.result_lost;

    const auto bytes = std::get<HandlerDone>(run(*make_invoker<Add>([](const Add&) { return std::string("\xFF"); })));
    EXPECT_NE(bytes.result_lost.find("UTF-8"), std::string::npos) << bytes.result_lost;
}

TEST(Invoker, reports_a_payload_that_cannot_be_decoded_with_its_cause) {
    const auto invoker = make_invoker<Add>([](const Add&) {});
    EXPECT_THROW(static_cast<void>(invoker->decode("[")), pawl::PayloadError);
    try {
        static_cast<void>(invoker->decode(R"({"a":"text","b":1})"));
        FAIL();
    } catch (const pawl::PayloadError& error) {
        EXPECT_THROW(std::rethrow_if_nested(error), nlohmann::json::exception);
    }
}

}  // namespace
