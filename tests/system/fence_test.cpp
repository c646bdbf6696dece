#include <atomic>
#include <chrono>
#include <optional>

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <pawl/events.hpp>
#include <pawl/job_context.hpp>

#include "support/heard.hpp"
#include "support/signal.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Count;
using tests::Heard;
using tests::Nudge;
using tests::Signal;

class Fence : public tests::SystemTest {
protected:
    /// A node whose heartbeats fail as soon as somebody holds its row.
    [[nodiscard]] Options hasty() const {
        Options hasty = options();
        hasty.heartbeat = 100ms;
        hasty.node_expiry = 500ms;
        return hasty;
    }
};

TEST_F(Fence, a_node_that_cannot_say_it_lives_stops_its_handlers_and_comes_back_later) {
    Scheduler scheduler(hasty());
    std::atomic<bool> stopped{};
    std::atomic<ClaimToken> first{}, last{};
    Signal began;
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
        last = context.claim_token();
        if (first == 0) {
            first = context.claim_token();
            Signal stop;
            const std::stop_callback raise(context.stop_token(), [&] { stop.raise(); });
            began.raise();
            stopped = stop.wait();
            context.throw_if_stopped();
        }
    });
    Heard<NodeFenced> fenced(scheduler);
    Heard<NodeStarted> started(scheduler);
    Heard<JobSucceeded> succeeded(scheduler);
    const JobId id = scheduler.enqueue(Nudge{}).with_max_retries(0).submit().id();
    scheduler.start();
    ASSERT_TRUE(began.wait());
    {
        store::pg::Transaction holding(admin());
        holding.run(
            store::pg::Statement{{}, store::pg::with_schema("select 1 from @schema@.node for update", schema())});
        ASSERT_TRUE(fenced.wait());
        EXPECT_TRUE(tests::eventually([&] { return stopped.load(); }));
    }
    ASSERT_TRUE(started.wait(2));
    EXPECT_TRUE(succeeded.wait_of(id));
    EXPECT_GT(last, first);
    EXPECT_EQ(scheduler.find(id)->attempts, 0);
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.node"), 2);
}

// What a handler finished is not run again because a write was held up, as long as nobody took its claim.
TEST_F(Fence, a_fenced_node_writes_what_was_decided_before_it_registers_anew) {
    Options slow = hasty();
    slow.node_expiry = 2s;
    Scheduler scheduler(slow);
    std::atomic<int> runs{};
    Signal began, go;
    scheduler.on<Nudge>([&](const Nudge&) {
        ++runs;
        began.raise();
        EXPECT_TRUE(go.wait());
    });
    Heard<NodeFenced> fenced(scheduler);
    Heard<NodeStarted> started(scheduler);
    Heard<JobSucceeded> succeeded(scheduler);
    Heard<StaleOutcome> stale(scheduler);
    const JobId id = scheduler.enqueue(Nudge{}).submit().id();
    scheduler.start();
    ASSERT_TRUE(began.wait());

    pqxx::connection connection{dsn()};
    pqxx::work holding_claim{connection};
    holding_claim.exec(store::pg::with_schema("select 1 from @schema@.claim for update", schema()));
    {
        store::pg::Transaction holding_node(admin());
        holding_node.run(
            store::pg::Statement{{}, store::pg::with_schema("select 1 from @schema@.node for update", schema())});
        go.raise();
        ASSERT_TRUE(fenced.wait());
    }
    // The database is back for its heartbeats, and the outcome is still under way.
    ASSERT_TRUE(tests::eventually(
        [&] { return number("select count(*) from @schema@.node where heartbeat_at > now() - interval '1 s'") == 1; }));
    EXPECT_EQ(number("select count(*) from @schema@.node"), 1);
    holding_claim.commit();
    EXPECT_TRUE(succeeded.wait_of(id));
    ASSERT_TRUE(started.wait(2));
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(stale.count(), 0U);
}

TEST_F(Fence, a_node_that_others_declared_dead_finds_out_and_registers_anew) {
    Scheduler scheduler(hasty());
    scheduler.on<Count>([](const Count&) {});
    Heard<NodeFenced> fenced(scheduler);
    Heard<NodeStarted> started(scheduler);
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    sql("update @schema@.node set state = 'dead'");
    ASSERT_TRUE(fenced.wait());
    ASSERT_TRUE(started.wait(2));
    (void)scheduler.enqueue(Count{1}).submit();
    EXPECT_TRUE(succeeded.wait());
    EXPECT_NE(succeeded.all().front().node, started.all().front().node);
}

}  // namespace
