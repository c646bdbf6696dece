#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>
#include <pawl/job_builder.hpp>

#include "api/job_builder_impl.hpp"

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using pawl::Duration;
using pawl::JobBuilder;
using pawl::Time;

/// A builder that is never submitted, and what it builds.
struct Built {
    Built() : Built(std::make_unique<JobBuilder::Impl>()) {}
    explicit Built(std::unique_ptr<JobBuilder::Impl> impl) : spec(impl->spec), builder(std::move(impl)) {}

    pawl::model::JobSpec& spec;
    JobBuilder builder;
};

TEST(JobBuilder, keeps_what_it_is_told) {
    Built built;
    built.builder.with_queue("mail")
        .with_priority(pawl::Priority::high)
        .with_max_retries(3)
        .with_backoff(pawl::Backoff::fixed(2s))
        .with_timeout(30s)
        .with_tags({"B", "a"})
        .with_tags({"c"})
        .with_param("tenant", "one")
        .with_param("tenant", "two")
        .with_delay(1min);
    EXPECT_EQ(built.spec.queue, "mail");
    EXPECT_EQ(built.spec.priority, pawl::Priority::high);
    EXPECT_EQ(built.spec.max_retries, 3);
    EXPECT_EQ(built.spec.backoff->law(), pawl::Backoff::Law::fixed);
    EXPECT_EQ(built.spec.timeout, Duration(30s));
    EXPECT_EQ(built.spec.tags, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(built.spec.params.at("tenant"), "two");
    EXPECT_EQ(std::get<Duration>(built.spec.due), Duration(1min));
}

TEST(JobBuilder, chains_on_a_temporary_as_well) {
    auto impl = std::make_unique<JobBuilder::Impl>();
    const auto& spec = impl->spec;
    const JobBuilder builder =
        JobBuilder(std::move(impl)).with_queue("mail").with_timeout(pawl::no_timeout).with_tags({"a"});
    EXPECT_EQ(spec.queue, "mail");
    EXPECT_EQ(spec.timeout, pawl::no_timeout);
}

TEST(JobBuilder, lets_the_later_of_delay_and_time_win) {
    const Time noon = std::chrono::sys_days(std::chrono::year(2030) / 1 / 1) + 12h;
    Built built;
    built.builder.with_delay(1s).with_run_at(noon);
    EXPECT_EQ(std::get<Time>(built.spec.due), noon);
    built.builder.with_delay(2s);
    EXPECT_EQ(std::get<Duration>(built.spec.due), Duration(2s));
}

TEST(JobBuilder, rounds_times_of_every_precision_up_to_a_microsecond) {
    using std::chrono::sys_time;
    Built built;
    const auto due = [&] { return std::get<Time>(built.spec.due).time_since_epoch(); };
    built.builder.with_run_at(sys_time<std::chrono::nanoseconds>(1'000'001ns));
    EXPECT_EQ(due(), 1001us);
    built.builder.with_run_at(sys_time<std::chrono::nanoseconds>(1'000'000ns));
    EXPECT_EQ(due(), 1000us);
    built.builder.with_run_at(sys_time<std::chrono::hours>(1h));
    EXPECT_EQ(due(), 1h);
    built.builder.with_run_at(sys_time<std::chrono::duration<double>>(std::chrono::duration<double>(0.5)));
    EXPECT_EQ(due(), 500ms);
    built.builder.with_delay(1ns);
    EXPECT_EQ(std::get<Duration>(built.spec.due), Duration(1us));
}

TEST(JobBuilder, refuses_each_bad_value_at_once_and_keeps_what_it_had) {
    const auto nan = std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN());
    const struct {
        std::string_view field;
        std::function<void(JobBuilder&)> call;
    } table[] = {
        {"queue", [](auto& b) { b.with_queue(""); }},
        {"queue", [](auto& b) { b.with_queue("a\0"s); }},  // B168
        {"priority", [](auto& b) { b.with_priority(static_cast<pawl::Priority>(99)); }},
        {"delay", [](auto& b) { b.with_delay(-1s); }},
        {"delay", [&](auto& b) { b.with_delay(nan); }},
        {"delay", [](auto& b) { b.with_delay(std::chrono::hours::max()); }},
        {"run_at", [&](auto& b) { b.with_run_at(std::chrono::sys_time<std::chrono::duration<double>>(nan)); }},
        {"run_at", [](auto& b) { b.with_run_at(std::chrono::sys_time<std::chrono::hours>::max()); }},
        {"max_retries", [](auto& b) { b.with_max_retries(-1); }},
        {"backoff", [](auto& b) { b.with_backoff(pawl::Backoff::custom([](int) { return Duration(1s); })); }},
        {"timeout", [](auto& b) { b.with_timeout(0s); }},
        {"timeout", [&](auto& b) { b.with_timeout(nan); }},
        {"tags[1]",
         [](auto& b) {
             b.with_tags({"a", ""});
         }},
        {"params", [](auto& b) { b.with_param("", "x"); }},
        {"params.k", [](auto& b) { b.with_param("k", "\xFF"); }},
    };
    Built built;
    built.builder.with_queue("kept").with_tags({"kept"}).with_param("kept", "kept").with_delay(1s);
    int row = 0;
    for (const auto& [field, call] : table) {
        try {
            call(built.builder);
            ADD_FAILURE() << "row " << row << " was accepted";
        } catch (const pawl::ConfigError& error) {
            EXPECT_EQ(error.field(), field) << "row " << row;
        }
        ++row;
    }
    EXPECT_EQ(built.spec.queue, "kept");
    EXPECT_EQ(built.spec.tags, std::vector<std::string>{"kept"});
    EXPECT_EQ(built.spec.params.size(), 1U);
    EXPECT_EQ(std::get<Duration>(built.spec.due), Duration(1s));
}

}  // namespace
