#include "support/planted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>

using namespace pawl;

TEST(Planted, secrets_in_any_line_of_a_log_fail_the_program) {
    const auto leaks = std::make_shared<tests::Leaks>();
    spdlog::logger log("searched", std::make_shared<tests::SearchedSink>(leaks));
    log.set_level(spdlog::level::trace);
    log.info("nothing here");
    tests::NoLeaks environment(leaks);
    environment.TearDown();
    EXPECT_TRUE(leaks->found().empty());

    log.debug("{} failed: password={}", "a job", "hunter2");
    EXPECT_THAT(leaks->found(), ::testing::ElementsAre("a job failed: password=hunter2"));
    EXPECT_NONFATAL_FAILURE(environment.TearDown(), "hunter2");
}
