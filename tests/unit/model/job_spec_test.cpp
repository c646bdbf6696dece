#include "model/job_spec.hpp"

#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using pawl::ConfigError;
using pawl::Duration;
using pawl::Time;
using pawl::model::JobSpec;

JobSpec good() {
    JobSpec spec;
    spec.kind = "billing.charge";
    return spec;
}

std::string refused(const std::function<void()>& action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return std::string(error.field());
    }
    return "accepted";
}

TEST(JobSpec, refuses_each_bad_value_and_names_its_field) {
    const auto nan = std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN());
    const struct {
        std::string_view field;
        std::function<void(JobSpec&)> spoil;
    } table[] = {
        {"kind", [](auto& s) { s.kind = ""; }},
        {"kind", [](auto& s) { s.kind = std::string(201, 'k'); }},
        {"kind", [](auto& s) { s.kind = "a\0b"s; }},  // B168
        {"kind", [](auto& s) { s.kind = "a\nb"; }},
        {"kind", [](auto& s) { s.kind = "a\xC2\x85"; }},
        {"kind", [](auto& s) { s.kind = "\xFF"; }},
        {"queue", [](auto& s) { s.queue = ""; }},
        {"queue", [](auto& s) { s.queue = std::string(201, 'q'); }},
        {"queue", [](auto& s) { s.queue = "q\x7F"; }},
        {"queue", [](auto& s) { s.queue = "q\xE2\x82"; }},
        {"priority", [](auto& s) { s.priority = static_cast<pawl::Priority>(5); }},
        {"payload_version", [](auto& s) { s.payload_version = -1; }},
        {"max_retries", [](auto& s) { s.max_retries = -1; }},
        {"max_retries", [](auto& s) { s.max_retries = std::numeric_limits<int>::min(); }},
        {"backoff", [](auto& s) { s.backoff = pawl::Backoff::custom([](int) { return Duration(1s); }); }},
        {"backoff", [](auto& s) { s.backoff = pawl::Backoff::list(std::vector<Duration>(101, 1s)); }},
        {"timeout", [](auto& s) { s.timeout = 0s; }},
        {"timeout", [](auto& s) { s.timeout = -1us; }},
        {"timeout", [&](auto& s) { s.timeout = Duration(nan); }},
        {"timeout", [](auto& s) { s.timeout = std::chrono::years(1001); }},
        {"delay", [](auto& s) { s.due = Duration(-1us); }},
        {"delay", [&](auto& s) { s.due = Duration(nan); }},
        {"delay", [](auto& s) { s.due = Duration::max(); }},
        {"run_at", [](auto& s) { s.due = Time::max(); }},
        {"run_at", [](auto& s) { s.due = Time(std::chrono::sys_days(std::chrono::year(10000) / 1 / 1)); }},
        {"tags[1]",
         [](auto& s) {
             s.tags = {"a", " "};
         }},
        {"tags[0]", [](auto& s) { s.tags = {std::string(65, 't')}; }},
        {"tags[0]", [](auto& s) { s.tags = {"t\0"s}; }},
        {"tags[0]", [](auto& s) { s.tags = {"\xC3"}; }},
        {"tags",
         [](auto& s) {
             for (int i = 0; i < 21; ++i) s.tags.push_back(std::to_string(i));
         }},
        {"params", [](auto& s) { s.params[""] = "x"; }},
        {"params.k", [](auto& s) { s.params["k"] = "x\0"s; }},
        {"params.k", [](auto& s) { s.params["k"] = "\xFF"; }},
        {"params.\\xff", [](auto& s) { s.params["\xFF"] = "x"; }},
        {"params.a\\x0ab", [](auto& s) { s.params["a\nb"] = "x"; }},
        {"params", [](auto& s) { s.params["k"] = std::string(4096, 'x'); }},
        {"params",
         [](auto& s) {
             for (int i = 0; i < 21; ++i) s.params[std::to_string(i)] = "x";
         }},
    };
    int row = 0;
    for (const auto& [field, spoil] : table) {
        JobSpec spec = good();
        spoil(spec);
        EXPECT_EQ(refused([&] { pawl::model::validate(spec); }), field) << "row " << row;
        ++row;
    }
}

TEST(JobSpec, takes_the_bounds) {
    JobSpec spec = good();
    spec.kind = std::string(200, 'k');
    spec.queue = std::string(200, 'q');
    spec.max_retries = std::numeric_limits<int>::max();
    spec.timeout = 1us;
    spec.tags = {std::string(64, 't')};
    spec.params["k"] = std::string(4095, 'x');
    spec.due = Duration(0s);
    EXPECT_EQ(refused([&] { pawl::model::validate(spec); }), "accepted");
    spec.timeout = pawl::no_timeout;
    spec.due = Time(std::chrono::sys_days(std::chrono::year(9999) / 12 / 31));
    spec.params = {{"k", "line\nline\ttab"}};
    EXPECT_EQ(refused([&] { pawl::model::validate(spec); }), "accepted");
}

TEST(JobSpec, takes_names_as_data) {  // B174
    for (const std::string name : {"a", "a.b", "A.b", "a b", " a", "\xF0\x9F\x99\x82", "a\"b", "a'b", "a;b", "a\\b"}) {
        JobSpec spec = good();
        spec.kind = name;
        spec.queue = name;
        pawl::model::validate(spec);
        EXPECT_EQ(spec.kind, name);
        EXPECT_EQ(spec.queue, name);
    }
}

TEST(JobSpec, brings_tags_into_one_form) {
    JobSpec spec = good();
    spec.tags = {" Payment\t", "b", "payment", "A\xC3\x84", "b"};
    pawl::model::validate(spec);
    EXPECT_EQ(spec.tags, (std::vector<std::string>{"a\xC3\x84", "b", "payment"}));
}

TEST(JobSpec, counts_tags_after_repetitions_are_dropped) {
    JobSpec spec = good();
    spec.tags = std::vector<std::string>(500, "same");
    pawl::model::validate(spec);
    EXPECT_EQ(spec.tags.size(), 1U);
}

TEST(JobSpec, takes_a_time_before_the_epoch_as_now) {
    JobSpec spec = good();
    spec.due = Time::min();
    pawl::model::validate(spec);
    EXPECT_EQ(std::get<Time>(spec.due), Time{});
}

TEST(ValidatePayload, bounds_the_size_and_names_the_place) {  // B176
    const auto field = [](std::string_view payload, std::size_t limit) {
        return refused([&] { pawl::model::validate_payload("k", payload, {limit}); });
    };
    EXPECT_EQ(field(R"("1234")", 6), "accepted");
    EXPECT_EQ(field(R"("1234")", 5), "payload");
    EXPECT_EQ(field("not json", 100), "payload");
    EXPECT_EQ(field(R"({"a":["x","\u0000"]})", 100), "payload.a[1]");  // B168
}

TEST(ValidatePayload, repeats_neither_the_payload_nor_raw_bytes_of_the_kind) {
    try {
        pawl::model::validate_payload("k", R"({"password":"hunter2)", {100});
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos);
    }
}

}  // namespace
