#include "worker/registry.hpp"

#include <string>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>

namespace {

using pawl::Handler;
using pawl::worker::Registry;

std::string refusal(Registry& registry, std::string_view kind) {
    try {
        registry.add(kind, {});
    } catch (const pawl::ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(Registry, finds_what_was_added) {
    Registry registry;
    auto& entry = registry.add("a", {});
    registry.add("b", {});
    EXPECT_EQ(registry.find("a"), &entry);
    EXPECT_EQ(registry.find("c"), nullptr);
    EXPECT_EQ(registry.entries().size(), 2U);
}

TEST(Registry, refuses_a_kind_that_it_has) {
    Registry registry;
    registry.add("a", {});
    EXPECT_NE(refusal(registry, "a").find("handler already"), std::string::npos);
}

TEST(Registry, refuses_a_kind_without_a_name) {
    Registry registry;
    EXPECT_NE(refusal(registry, ""), "");
}

TEST(Registry, refuses_everything_once_it_is_sealed) {
    Registry registry;
    auto& entry = registry.add("a", {});
    Handler handler(entry.settings, registry.sealed());
    handler.with_max_retries(2).with_timeout(std::chrono::seconds(1)).with_backoff(pawl::Backoff::none());
    registry.seal();
    EXPECT_NE(refusal(registry, "b").find("start()"), std::string::npos);
    EXPECT_THROW(handler.with_max_retries(3), pawl::ConfigError);
    EXPECT_THROW(handler.with_timeout(pawl::no_timeout), pawl::ConfigError);
    EXPECT_THROW(handler.with_backoff({}), pawl::ConfigError);
    EXPECT_THROW(handler.discard_on<int>(), pawl::ConfigError);
    EXPECT_EQ(entry.settings.max_retries, 2);
}

TEST(Handler, refuses_values_out_of_range) {
    Registry registry;
    Handler handler(registry.add("a", {}).settings, registry.sealed());
    EXPECT_THROW(handler.with_max_retries(-1), pawl::ConfigError);
    EXPECT_THROW(handler.with_timeout(std::chrono::seconds(0)), pawl::ConfigError);
}

}  // namespace
