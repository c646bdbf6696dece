#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/detail/invoker.hpp>
#include <pawl/json.hpp>
#include <pawl/task.hpp>

#include "unit/api/run_context.hpp"

namespace {

using pawl::JobContext;
using pawl::Task;

std::string seen;

void resize(const std::string& path, int width, int height) { seen = path + std::to_string(width * height); }
void quiet(int value) noexcept { seen = std::to_string(value); }
void view(std::string_view text) { seen = text; }
void const_view(const std::string_view& text) { seen = text; }
int context_last(int a, JobContext& context) { return a + static_cast<int>(context.id()); }
int context_only(JobContext& context) { return static_cast<int>(context.id()); }
void nothing() { seen = "nothing"; }
std::size_t by_value(std::vector<int> values) { return values.size(); }
void overloaded(int) { seen = "int"; }
void overloaded(double) { seen = "double"; }

constexpr Task resize_task{"resize", &resize};
constexpr Task quiet_task{"quiet", &quiet};
constexpr Task view_task{"view", &view};
constexpr Task const_view_task{"const_view", &const_view};
constexpr Task context_last_task{"context_last", &context_last};
constexpr Task context_only_task{"context_only", &context_only, 3};
constexpr Task nothing_task{"nothing", &nothing};
constexpr Task by_value_task{"by_value", &by_value};
constexpr Task<void(double)> double_task{"double", &overloaded};
constexpr Task<void(int)> int_task{"int", &overloaded};

static_assert(std::is_same_v<decltype(resize_task)::Arguments, std::tuple<std::string, int, int>>);
static_assert(std::is_same_v<decltype(view_task)::Arguments, std::tuple<std::string>>);
static_assert(std::is_same_v<decltype(const_view_task)::Arguments, std::tuple<std::string>>);
static_assert(std::is_same_v<decltype(context_last_task)::Arguments, std::tuple<int>>);
static_assert(std::is_same_v<decltype(context_only_task)::Arguments, std::tuple<>>);
static_assert(std::is_same_v<decltype(nothing_task)::Arguments, std::tuple<>>);
static_assert(resize_task.kind() == "resize" && resize_task.payload_version() == 0);
static_assert(context_only_task.payload_version() == 3);

template <class Signature>
std::string run(const Task<Signature>& task, std::string_view stored) {
    pawl::test::RunContext run;
    const auto invoker = pawl::detail::make_invoker<typename Task<Signature>::Arguments>(task);
    const auto reply = invoker->decode(stored)->run(run.context);
    return std::get<pawl::detail::HandlerDone>(reply).result.value_or("none");
}

TEST(Task, calls_its_function_with_the_stored_arguments) {
    EXPECT_EQ(run(resize_task, R"(["a.png", 20, 3])"), "none");
    EXPECT_EQ(seen, "a.png60");
    EXPECT_EQ(run(quiet_task, "[7]"), "none");
    EXPECT_EQ(seen, "7");
    EXPECT_EQ(run(view_task, R"(["a text that does not fit into a small string"])"), "none");
    EXPECT_EQ(seen, "a text that does not fit into a small string");
    EXPECT_EQ(run(const_view_task, R"(["b"])"), "none");
    EXPECT_EQ(seen, "b");
    EXPECT_EQ(run(nothing_task, "[]"), "none");
    EXPECT_EQ(seen, "nothing");
}

TEST(Task, names_one_of_several_overloads_by_its_signature) {
    run(double_task, "[1]");
    EXPECT_EQ(seen, "double");
    run(int_task, "[1]");
    EXPECT_EQ(seen, "int");
}

TEST(Task, gives_the_context_and_takes_a_result) {
    EXPECT_EQ(run(context_last_task, "[1]"), "43");
    EXPECT_EQ(run(context_only_task, "[]"), "42");
    EXPECT_EQ(run(by_value_task, "[[1,2,3]]"), "3");
}

TEST(Task, refuses_stored_arguments_of_another_signature) {
    EXPECT_THROW(run(resize_task, R"(["a.png", 20])"), pawl::PayloadError);
    EXPECT_THROW(run(resize_task, R"([20, "a.png", 3])"), pawl::PayloadError);
    EXPECT_THROW(run(resize_task, R"({"path": "a.png"})"), pawl::PayloadError);
}

}  // namespace
