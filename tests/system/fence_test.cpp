#include <atomic>
#include <chrono>
#include <optional>

#include <gtest/gtest.h>

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
