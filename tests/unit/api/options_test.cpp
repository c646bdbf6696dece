#include <chrono>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>
#include <pawl/options.hpp>

#include "api/validate_options.hpp"

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using pawl::Duration;
using pawl::Options;

TEST(Options, are_good_as_they_come) { EXPECT_NO_THROW(pawl::api::validate({})); }

TEST(Options, may_be_without_queues_for_a_scheduler_that_only_enqueues) {
    EXPECT_NO_THROW(pawl::api::validate({.connection = "postgresql:///shop", .queues = {}}));
}

TEST(Options, take_the_bounds) {
    EXPECT_NO_THROW(pawl::api::validate({.schema = std::string(63, 's'),
                                         .queues = {{"a", 1}, {"A", 10'000}, {"a.b"}},
                                         .node_expiry = 300ms,
                                         .heartbeat = 100ms,
                                         .poll_floor = 10ms,
                                         .claim_limit = 1,
                                         .prefetch_target = 0s,
                                         .default_timeout = pawl::no_timeout,
                                         .soft_limit = 1,
                                         .timeout_grace = 0s,
                                         .max_abandoned_threads = 0,
                                         .stop_grace = 0s,
                                         .hard_grace = 0s,
                                         .max_payload = 2,
                                         .max_result = 0,
                                         .max_retries = 0,
                                         .crash_budget = 1,
                                         .retention = {.succeeded = 0s, .canceled = {}, .failed = {}},
                                         .event_queue = 1,
                                         .reconnect = {.first = 1ms, .longest = 1ms}}));
}

TEST(Options, are_refused_with_the_name_of_the_field) {
    const auto nan = std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN());
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    const struct {
        std::string_view field;
        std::function<void(Options&)> spoil;
    } table[] = {
        {"connection", [](auto& o) { o.connection = "a\0b"s; }},
        {"schema", [](auto& o) { o.schema = ""; }},
        {"schema", [](auto& o) { o.schema = std::string(64, 's'); }},  // B174
        {"schema", [](auto& o) { o.schema = "\xFF"; }},
        {"schema", [](auto& o) { o.schema = "a\0"s; }},
        {"queues[0].name", [](auto& o) { o.queues = {{""}}; }},
        {"queues[1].name",
         [](auto& o) {
             o.queues = {{"a"}, {"a"}};
         }},
        {"queues[1].name",
         [](auto& o) {
             o.queues = {{"a"}, {std::string(201, 'q')}};
         }},
        {"queues[0].concurrency",
         [](auto& o) {
             o.queues = {{"a", -1}};
         }},
        {"queues[0].concurrency",
         [](auto& o) {
             o.queues = {{"a", 10'001}};
         }},
        {"node_expiry", [](auto& o) { o.node_expiry = 14s; }},
        {"node_expiry", [](auto& o) { o.node_expiry = 25h; }},
        {"node_expiry", [&](auto& o) { o.node_expiry = nan; }},
        {"heartbeat", [](auto& o) { o.heartbeat = 0s; }},
        {"heartbeat", [](auto& o) { o.heartbeat = 9h; }},
        {"poll_floor", [](auto& o) { o.poll_floor = 0s; }},
        {"poll_floor", [](auto& o) { o.poll_floor = 2h; }},
        {"claim_limit", [](auto& o) { o.claim_limit = 0; }},
        {"claim_limit", [](auto& o) { o.claim_limit = 1025; }},
        {"prefetch_target", [](auto& o) { o.prefetch_target = -1s; }},
        {"prefetch_target", [](auto& o) { o.prefetch_target = 2s; }},
        {"default_timeout", [](auto& o) { o.default_timeout = 0s; }},
        {"default_timeout", [&](auto& o) { o.default_timeout = nan; }},
        {"soft_limit", [](auto& o) { o.soft_limit = 0; }},
        {"soft_limit", [](auto& o) { o.soft_limit = 1.01; }},
        {"soft_limit", [&](auto& o) { o.soft_limit = not_a_number; }},
        {"timeout_grace", [](auto& o) { o.timeout_grace = -1s; }},
        {"max_abandoned_threads", [](auto& o) { o.max_abandoned_threads = -1; }},
        {"stop_grace", [](auto& o) { o.stop_grace = -1s; }},
        {"hard_grace", [](auto& o) { o.hard_grace = Duration::max(); }},
        {"max_payload", [](auto& o) { o.max_payload = 1; }},
        {"max_payload", [](auto& o) { o.max_payload = (std::size_t{64} << 20U) + 1; }},
        {"max_result", [](auto& o) { o.max_result = std::size_t{65} << 20U; }},
        {"max_retries", [](auto& o) { o.max_retries = -1; }},
        {"crash_budget", [](auto& o) { o.crash_budget = 0; }},
        {"crash_budget", [](auto& o) { o.crash_budget = 101; }},
        {"retention.succeeded", [](auto& o) { o.retention.succeeded = -1s; }},
        {"retention.canceled", [&](auto& o) { o.retention.canceled = nan; }},
        {"retention.failed", [](auto& o) { o.retention.failed = Duration::max(); }},
        {"listen", [](auto& o) { o.behind_pooler = true; }},
        {"retry_budget.ratio", [](auto& o) { o.retry_budget = {.ratio = -0.1}; }},
        {"retry_budget.ratio", [](auto& o) { o.retry_budget = {.ratio = 101}; }},
        {"retry_budget.ratio", [&](auto& o) { o.retry_budget = {.ratio = not_a_number}; }},
        {"retry_budget.at_least", [](auto& o) { o.retry_budget = {.at_least = 0}; }},
        {"retry_budget.at_least", [](auto& o) { o.retry_budget = {.at_least = 1'000'001}; }},
        {"retry_budget.longest_delay", [](auto& o) { o.retry_budget = {.longest_delay = 999ms}; }},
        {"retry_budget.longest_delay", [](auto& o) { o.retry_budget = {.longest_delay = 25h}; }},
        {"retry_budget.longest_delay", [&](auto& o) { o.retry_budget = {.longest_delay = nan}; }},
        {"event_queue", [](auto& o) { o.event_queue = 0; }},
        {"event_queue", [](auto& o) { o.event_queue = 10'000'001; }},
        {"reconnect.first", [](auto& o) { o.reconnect.first = 0s; }},
        {"reconnect.first", [](auto& o) { o.reconnect.first = 11s; }},
        {"reconnect.longest", [](auto& o) { o.reconnect.longest = 11min; }},
    };
    int row = 0;
    for (const auto& [field, spoil] : table) {
        Options options;
        spoil(options);
        try {
            pawl::api::validate(options);
            ADD_FAILURE() << "row " << row << ", " << field << ", was accepted";
        } catch (const pawl::ConfigError& error) {
            EXPECT_EQ(error.field(), field) << "row " << row;
        }
        ++row;
    }
}

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
    out << value;
};

TEST(Options, cannot_be_printed_with_the_password_in_them) {  // B050
    static_assert(!Printable<Options>);
}

TEST(Options, keep_the_password_out_of_errors) {  // B050
    try {
        pawl::api::validate({.connection = "postgresql://u:hunter2@h/d\0"s});
        FAIL();
    } catch (const pawl::ConfigError& error) {
        EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos);
    }
}

}  // namespace
