#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/store.hpp"

namespace pawl::store {
namespace {

using model::Verdict;
using pg::Params;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::ids_of;
using tests::settlement;

class Queues : public tests::StoreTest {
protected:
    void describe(bool halts, std::string_view runbook = {}) {
        const std::vector<QueueFacts> queues{{"default", runbook, halts}};
        store().describe(queues, {});
    }
    QueueInfo queue(std::string_view name = "default") {
        for (QueueInfo& info : store().queues()) {
            if (info.name == name) return info;
        }
        return {};
    }
    model::Settlement dead(const tests::JobPtr& job) {
        return settlement(job, Verdict::dead_letter,
                          [](model::Decision& decision) { decision.reason = Reason::permanent; });
    }
    Settled settle_whole(const std::vector<model::Settlement>& batch) {
        return store().settle({node(), ++seq_, batch});
    }

private:
    std::int64_t seq_ = 1000;
};

TEST_F(Queues, pause_and_go_on_for_all_nodes) {
    const JobId id = enqueue_one();
    EXPECT_TRUE(store().pause_queue({"default", "me", "night"}));
    EXPECT_FALSE(store().pause_queue({"default", "me", "again"}));
    EXPECT_TRUE(queue().paused);
    EXPECT_TRUE(queue().paused_at);
    EXPECT_EQ(queue().halted_by, std::nullopt);
    EXPECT_THAT(claim().jobs, IsEmpty());
    EXPECT_TRUE(store().resume_queue({"default", "me", "morning"}));
    EXPECT_FALSE(store().resume_queue({"default", "me", "again"}));
    EXPECT_FALSE(queue().paused);
    EXPECT_THAT(ids_of(claim()), ElementsAre(id));
    EXPECT_EQ(number("select count(*) from @schema@.act where queue is not null and by = 'me'"), 2);
}

TEST_F(Queues, can_be_paused_before_their_first_job) {
    EXPECT_TRUE(store().pause_queue({"tomorrow", "", ""}));
    EXPECT_TRUE(queue("tomorrow").paused);
}

// P16
TEST_F(Queues, are_halted_by_a_dead_letter_in_the_same_commit) {
    describe(true);
    const std::vector<JobId> ids = enqueue(3);
    const Claimed claimed = claim(2);
    const Settled settled = settle_whole({settlement(claimed.jobs[0], Verdict::complete), dead(claimed.jobs[1])});
    EXPECT_THAT(settled.applied, ElementsAre(true, true));
    ASSERT_THAT(settled.halted, SizeIs(1));
    EXPECT_EQ(settled.halted[0].name, "default");
    EXPECT_EQ(settled.halted[0].by, ids[1]);
    EXPECT_TRUE(queue().paused);
    EXPECT_EQ(queue().halted_by, ids[1]);
    EXPECT_THAT(claim().jobs, IsEmpty());
    EXPECT_EQ(number("select count(*) from @schema@.act where verb = 'halt'"), 1);

    EXPECT_TRUE(store().resume_queue({"default", "", ""}));
    EXPECT_EQ(queue().halted_by, std::nullopt);
    EXPECT_THAT(ids_of(claim()), ElementsAre(ids[2]));
}

TEST_F(Queues, go_on_after_what_is_no_dead_letter_of_theirs) {
    describe(true);
    enqueue(4);
    const Claimed claimed = claim();
    (void)store().cancel({claimed.jobs[3]->slot.id, "", ""});
    const Settled settled =
        settle_whole({settlement(claimed.jobs[0], Verdict::discard), settlement(claimed.jobs[1], Verdict::cancel),
                      settlement(claimed.jobs[2], Verdict::snooze), dead(claimed.jobs[3])});
    EXPECT_THAT(settled.applied, ElementsAre(true, true, true, false));
    EXPECT_THAT(settled.halted, IsEmpty());
    EXPECT_FALSE(queue().paused);
}

TEST_F(Queues, go_on_when_nobody_told_them_to_halt) {
    describe(false);
    enqueue(1);
    EXPECT_THAT(settle_whole({dead(claim().jobs[0])}).halted, IsEmpty());
    EXPECT_FALSE(queue().paused);
}

TEST_F(Queues, keep_what_the_options_say_of_them) {  // P29
    const std::vector<QueueFacts> queues{{"default", "call ops", true}, {"mail", "", false}};
    const std::vector<KindFacts> kinds{{tests::test_kind, "see the wiki"}};
    store().describe(queues, kinds);
    EXPECT_EQ(queue().runbook, "call ops");
    EXPECT_EQ(queue("mail").runbook, "");
    EXPECT_EQ(number("select count(*) from @schema@.kind where runbook = 'see the wiki'"), 1);
    describe(false);
    EXPECT_EQ(queue().runbook, "");
}

}  // namespace
}  // namespace pawl::store
