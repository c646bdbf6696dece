#include "worker/stop_state.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "unit/worker/claimed_job.hpp"

namespace {

using pawl::tests::started_run;
using pawl::worker::StopReason;

TEST(StopState, keeps_the_reason_that_counts) {
    using enum StopReason;
    const std::tuple<StopReason, StopReason, StopReason> table[] = {{none, hard_limit, hard_limit},
                                                                    {none, stopping, stopping},
                                                                    {none, canceled, canceled},
                                                                    {none, fenced, fenced},
                                                                    {hard_limit, stopping, hard_limit},
                                                                    {stopping, hard_limit, stopping},
                                                                    {hard_limit, canceled, canceled},
                                                                    {hard_limit, fenced, fenced},
                                                                    {stopping, canceled, canceled},
                                                                    {stopping, fenced, fenced},
                                                                    {canceled, stopping, canceled},
                                                                    {canceled, hard_limit, canceled},
                                                                    {canceled, fenced, canceled},
                                                                    {fenced, canceled, fenced},
                                                                    {fenced, stopping, fenced},
                                                                    {fenced, hard_limit, fenced},
                                                                    {none, none, none}};
    for (const auto& [first, second, kept] : table) {
        const auto run = started_run();
        run->request_stop(first);
        EXPECT_EQ(run->request_stop(second), second == kept && second != none);
        EXPECT_EQ(run->reason(), kept);
        EXPECT_EQ(run->stop_token().stop_requested(), kept != none);
    }
}

TEST(StopState, shows_the_reason_to_a_stop_callback) {
    const auto run = started_run();
    auto seen = StopReason::none;
    const std::stop_callback callback{run->stop_token(), [&] { seen = run->reason(); }};
    run->request_stop(StopReason::hard_limit);
    EXPECT_EQ(seen, StopReason::hard_limit);
}

TEST(StopState, gives_its_verdict_to_one_caller) {
    const auto run = started_run();
    EXPECT_FALSE(run->verdict_claimed());
    EXPECT_TRUE(run->claim_verdict());
    EXPECT_FALSE(run->claim_verdict());
    EXPECT_TRUE(run->verdict_claimed());
}

}  // namespace
