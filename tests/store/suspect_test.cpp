#include <optional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "store/pg/params.hpp"
#include "support/store.hpp"

namespace {

using namespace pawl;
using model::Verdict;
using store::Claimed;
using store::LostJob;
using store::NodeId;
using store::Rescued;
using store::pg::Params;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::ids_of;
using tests::JobPtr;
using tests::settlement;

class Suspects : public tests::StoreTest {
protected:
    std::vector<JobId> enqueue_suspects(std::size_t count) {
        std::vector<JobId> ids;
        for (std::size_t i = 0; i < count; ++i) ids.push_back(enqueue_one());
        sql("update @schema@.ready set losses = 2");
        return ids;
    }
};

TEST_F(Suspects, are_passed_over_by_claims_which_say_that_there_are_some) {
    const std::vector<JobId> suspects = enqueue_suspects(3);
    const JobId other = enqueue_one();
    const Claimed claimed = claim();
    EXPECT_THAT(ids_of(claimed), ElementsAre(other));
    EXPECT_TRUE(claimed.suspects);
    sql("update @schema@.ready set losses = 1");
    const Claimed rest = claim();
    EXPECT_EQ(ids_of(rest), suspects);
    EXPECT_FALSE(rest.suspects);
}

TEST_F(Suspects, are_claimed_one_at_a_time_in_the_whole_fleet) {
    const std::vector<JobId> ids = enqueue_suspects(2);
    const NodeId other = register_node();
    const Claimed first = claim_suspect();
    ASSERT_THAT(ids_of(first), ElementsAre(ids[0]));
    EXPECT_EQ(first.jobs[0]->facts.losses, 2);
    EXPECT_EQ(first.jobs[0]->payload, "0");
    EXPECT_THAT(claim_suspect(store(), other).jobs, IsEmpty());
    EXPECT_THAT(claim_suspect().jobs, IsEmpty());

    EXPECT_THAT(settle(first.jobs[0], Verdict::complete), ElementsAre(true));
    EXPECT_THAT(ids_of(claim_suspect(store(), other)), ElementsAre(ids[1]));
}

TEST_F(Suspects, of_several_claimers_at_once_are_had_by_one) {
    const std::vector<JobId> ids = enqueue_suspects(8);
    constexpr int claimers = 4;
    std::vector<std::unique_ptr<store::Store>> stores;
    std::vector<NodeId> nodes;
    for (int i = 0; i < claimers; ++i) {
        stores.push_back(new_store());
        nodes.push_back(register_node());
    }
    for (int round = 0; round < 8; ++round) {
        std::vector<Claimed> claimed(claimers);
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < claimers; ++i) {
                threads.emplace_back([&, i] { claimed[i] = claim_suspect(*stores[i], nodes[i]); });
            }
        }
        std::vector<JobPtr> jobs;
        for (const Claimed& one : claimed) jobs.insert(jobs.end(), one.jobs.begin(), one.jobs.end());
        ASSERT_THAT(jobs, SizeIs(1)) << "round " << round;
        EXPECT_THAT(settle(jobs[0], Verdict::complete), ElementsAre(true));
    }
}

TEST_F(Suspects, are_not_had_of_a_paused_queue_another_kind_or_by_a_dead_node) {
    enqueue_suspects(1);
    sql("update @schema@.queue set paused = true");
    EXPECT_THAT(claim_suspect().jobs, IsEmpty());
    sql("update @schema@.queue set paused = false");
    const std::vector<int> queues{queue_id()};
    const std::vector<int> kinds{kind_id("test.other")};
    EXPECT_THAT(store().claim_suspect({node(), queues, kinds}).jobs, IsEmpty());
    sql("update @schema@.node set state = 'dead'");
    const Claimed claimed = claim_suspect();
    EXPECT_THAT(claimed.jobs, IsEmpty());
    EXPECT_FALSE(claimed.node_alive);
}

TEST_F(Suspects, of_a_lost_node_keep_others_of_the_queue_waiting_until_they_are_decided) {
    enqueue_suspects(2);
    const NodeId lost = register_node();
    ASSERT_THAT(claim_suspect(store(), lost).jobs, SizeIs(1));
    let_expire(lost);
    (void)store().rescue({node(), 100, true});
    EXPECT_THAT(claim_suspect().jobs, IsEmpty());
    const Rescued rescued = store().rescue({node(), 100, true});
    ASSERT_THAT(rescued.claims, SizeIs(1));
    EXPECT_TRUE(rescued.claims[0].jobs[0].alone);
    EXPECT_THAT(claim_suspect().jobs, IsEmpty());
    EXPECT_THAT(settle(rescued.claims[0].jobs[0].job, Verdict::complete), ElementsAre(true));
    EXPECT_THAT(claim_suspect().jobs, SizeIs(1));
}

// ---- Whose loss it is

class Losses : public tests::StoreTest {
protected:
    std::vector<LostJob> rescue_all(NodeId by) {
        std::vector<LostJob> lost;
        for (int round = 0; round < 4; ++round) {
            for (const auto& claim : store().rescue({by, 100, true}).claims) {
                lost.insert(lost.end(), claim.jobs.begin(), claim.jobs.end());
            }
        }
        return lost;
    }
};

TEST_F(Losses, of_one_job_are_its_own_and_of_several_nobodys) {
    for (const std::size_t held : {std::size_t{1}, std::size_t{2}, std::size_t{130}}) {
        const NodeId lost = register_node();
        enqueue(held);
        ASSERT_THAT(claim(store(), lost, 200).jobs, SizeIs(held));
        let_expire(lost);
        const std::vector<LostJob> jobs = rescue_all(node());
        ASSERT_THAT(jobs, SizeIs(held));
        for (const LostJob& job : jobs) {
            EXPECT_EQ(job.alone, held == 1) << held;
            EXPECT_FALSE(job.begun);
            settle(job.job, Verdict::complete);
        }
    }
}

TEST_F(Losses, count_what_was_not_settled) {
    const NodeId lost = register_node();
    enqueue(2);
    const Claimed claimed = claim(store(), lost);
    (void)store().settle({lost, 1, std::vector{settlement(claimed.jobs[0], Verdict::complete)}});
    let_expire(lost);
    const std::vector<LostJob> jobs = rescue_all(node());
    ASSERT_THAT(jobs, SizeIs(1));
    EXPECT_TRUE(jobs[0].alone);
}

TEST_F(Losses, of_a_claim_that_committed_after_the_death_are_nobodys) {
    const NodeId lost = register_node();
    enqueue_one();
    (void)claim(store(), lost);
    enqueue_one();
    (void)claim(store(), node());
    let_expire(lost);
    (void)store().rescue({node(), 0, true});
    // A statement of its connection that still ran.
    sql("update @schema@.claim set node = $1", Params{}.add(lost));
    int alone = 0;
    for (const LostJob& job : rescue_all(node())) alone += job.alone ? 1 : 0;
    EXPECT_EQ(alone, 1);
}

TEST_F(Losses, count_what_all_schedulers_of_the_process_held) {
    const std::int64_t pid = 4711;
    for (const bool one_after_the_other : {false, true}) {
        const NodeId first = register_node(std::chrono::minutes(5), pid);
        const NodeId second = register_node(std::chrono::minutes(5), pid);
        enqueue(2);
        ASSERT_THAT(claim(store(), first, 1).jobs, SizeIs(1));
        ASSERT_THAT(claim(store(), second, 1).jobs, SizeIs(1));
        let_expire(first);
        if (!one_after_the_other) let_expire(second);
        std::vector<LostJob> jobs = rescue_all(node());
        let_expire(second);
        for (LostJob& job : rescue_all(node())) jobs.push_back(std::move(job));
        ASSERT_THAT(jobs, SizeIs(2));
        for (const LostJob& job : jobs) {
            EXPECT_FALSE(job.alone) << one_after_the_other;
            settle(job.job, Verdict::complete);
        }
        sql("delete from @schema@.node where pid = $1", Params{}.add(pid));
    }
    // The other scheduler holds nothing.
    const NodeId idle = register_node(std::chrono::minutes(5), pid);
    const NodeId busy = register_node(std::chrono::minutes(5), pid);
    enqueue_one();
    (void)claim(store(), busy);
    let_expire(idle);
    (void)rescue_all(node());
    let_expire(busy);
    const std::vector<LostJob> jobs = rescue_all(node());
    ASSERT_THAT(jobs, SizeIs(1));
    EXPECT_TRUE(jobs[0].alone);
}

TEST_F(Losses, stay_whose_they_were_when_the_rescuer_is_lost_too) {
    const NodeId lost = register_node();
    enqueue_one();
    (void)claim(store(), lost);
    const NodeId rescuer = register_node();
    enqueue_one();
    (void)claim(store(), rescuer);
    let_expire(lost);
    ASSERT_THAT(rescue_all(rescuer), SizeIs(1));
    let_expire(rescuer);
    const std::vector<LostJob> jobs = rescue_all(node());
    ASSERT_THAT(jobs, SizeIs(2));
    // It did not run what it had rescued, so that it was alone with its own.
    for (const LostJob& job : jobs) EXPECT_TRUE(job.alone);
}

// ---- Runs that must not be repeated

TEST_F(Losses, tell_which_runs_are_known_to_have_begun) {
    const NodeId lost = register_node();
    const std::vector<JobId> ids = enqueue(3);
    const Claimed claimed = claim(store(), lost);
    EXPECT_TRUE(store().begin_run(claimed.jobs[1]->slot));
    EXPECT_TRUE(store().begin_run(claimed.jobs[1]->slot)) << "said again in doubt";
    let_expire(lost);
    const std::vector<LostJob> jobs = rescue_all(node());
    ASSERT_THAT(jobs, SizeIs(3));
    for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(jobs[i].begun, i == 1);
    EXPECT_FALSE(store().begin_run(claimed.jobs[0]->slot)) << "taken over";
}

TEST_F(Losses, refuse_the_beginning_of_what_was_settled) {
    enqueue(2);
    const Claimed claimed = claim();
    settle(claimed.jobs[0], Verdict::complete);
    EXPECT_FALSE(store().begin_run(claimed.jobs[0]->slot));
    EXPECT_TRUE(store().begin_run(claimed.jobs[1]->slot));
}

// What a goodbye gives back is run again.
TEST_F(Losses, of_begun_runs_are_decided_although_their_node_said_goodbye) {
    const NodeId leaving = register_node();
    enqueue_one();
    const JobPtr begun = claim(store(), leaving).jobs.at(0);
    const JobId other = enqueue_one();
    (void)claim(store(), leaving);
    ASSERT_TRUE(store().begin_run(begun->slot));
    EXPECT_EQ(store().say_goodbye(leaving), 1);
    EXPECT_THAT(ids_of(claim()), ElementsAre(other));
    const Rescued rescued = store().rescue({node(), 100, true});
    EXPECT_EQ(rescued.released, 0);
    ASSERT_THAT(ids_of(rescued.claims), ElementsAre(begun->slot.id));
    EXPECT_TRUE(rescued.claims[0].jobs[0].begun);

    // Settled, it is not in the way of the goodbye.
    const NodeId quick = register_node();
    enqueue(2);
    const Claimed both = claim(store(), quick);
    ASSERT_TRUE(store().begin_run(both.jobs[0]->slot));
    (void)store().settle({quick, 1, std::vector{settlement(both.jobs[0], Verdict::complete)}});
    EXPECT_EQ(store().say_goodbye(quick), 1);
}

}  // namespace
