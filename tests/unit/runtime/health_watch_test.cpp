#include "runtime/health_watch.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using base::FailureCause;
using runtime::judge;
using runtime::Vitals;
using testing::ElementsAreArray;

Vitals well() {
    Vitals vitals;
    vitals.heartbeat = 5s;
    vitals.since_heartbeat = 4s;
    return vitals;
}

TEST(Judge, finds_nothing_wrong_with_one_that_is_well) {
    const Health health = judge(well());
    EXPECT_TRUE(health.live);
    EXPECT_TRUE(health.ready);
    EXPECT_TRUE(health.problems.empty());
}

TEST(Judge, names_what_is_wrong_and_says_whether_it_is_still_ready_and_live) {
    using Reasons = std::vector<HealthReason>;
    struct Row {
        std::string name;
        std::function<void(Vitals&)> spoil;
        Reasons reasons;
        bool ready;
        bool live = true;
    };
    const base::LoopVitals unreachable{3, "connection refused", FailureCause::connection, {}};
    const base::LoopVitals misfit{2, "no such table", FailureCause::schema, {}};
    const std::vector<Row> rows{
        {"one failed claim", [](Vitals& v) { v.claim.failures = 1; }, {}, true},
        {"two of them", [](Vitals& v) { v.claim.failures = 2; }, {HealthReason::not_claiming}, false},
        {"a claim that takes 35 s", [](Vitals& v) { v.claim.in_step_for = 35s; }, {}, true},
        {"a claim that hangs", [](Vitals& v) { v.claim.in_step_for = 36s; }, {HealthReason::not_claiming}, false},
        {"a settle that hangs", [](Vitals& v) { v.settle.in_step_for = 36s; }, {HealthReason::not_settling}, false},
        {"settles that fail", [](Vitals& v) { v.settle.failures = 9; }, {HealthReason::not_settling}, false},
        {"heartbeats in time", [](Vitals& v) { v.since_heartbeat = 15s; }, {}, true},
        {"heartbeats too late", [](Vitals& v) { v.since_heartbeat = 16s; }, {HealthReason::heartbeat_late}, false},
        {"fenced", [](Vitals& v) { v.fenced = true, v.since_heartbeat = 30s; }, {HealthReason::fenced}, false},
        {"the listener lost", [](Vitals& v) { v.listen.failures = 1; }, {HealthReason::listener_lost}, true},
        {"one connection lost",
         [](Vitals& v) {
             v.pulse = {1, "lost", FailureCause::connection, {}};
         },
         {},
         true},
        {"the database gone",
         [&](Vitals& v) { v.pulse = v.claim = v.settle = unreachable; },
         {HealthReason::database_unreachable, HealthReason::not_claiming, HealthReason::not_settling},
         false},
        {"another schema",
         [&](Vitals& v) { v.claim = misfit; },
         {HealthReason::not_claiming, HealthReason::schema_mismatch},
         false},
        {"a fatal error", [](Vitals& v) { v.closed = true; }, {HealthReason::not_claiming}, false},
        {"stopping",
         [](Vitals& v) { v.closed = v.stopping = true, v.since_heartbeat = 1min; },
         {HealthReason::stopping},
         false},
        {"slots lost", [](Vitals& v) { v.lost_slots = 1; }, {HealthReason::threads_abandoned}, false, false},
        {"stopped with a handler",
         [](Vitals& v) { v.stopping = true, v.left_running = 2; },
         {HealthReason::threads_abandoned, HealthReason::stopping},
         false,
         false},
        {"a halted queue", [](Vitals& v) { v.halted_queues = {"mail"}; }, {HealthReason::queue_halted}, true},
    };
    for (const Row& row : rows) {
        Vitals vitals = well();
        row.spoil(vitals);
        const Health health = judge(vitals);
        Reasons reasons;
        for (const HealthProblem& problem : health.problems) reasons.push_back(problem.reason);
        EXPECT_THAT(reasons, ElementsAreArray(row.reasons)) << row.name;
        EXPECT_EQ(health.ready, row.ready) << row.name;
        EXPECT_EQ(health.live, row.live) << row.name;
    }
}

TEST(Judge, says_what_failed_in_the_words_of_the_failure) {
    Vitals vitals = well();
    vitals.claim = {4, "connection refused", FailureCause::connection, {}};
    EXPECT_EQ(judge(vitals).problems.at(0).text, "it failed 4 times in a row, at last with: connection refused");
    EXPECT_EQ(to_string(judge(vitals).problems.at(0).reason), "not_claiming");
}

}  // namespace
