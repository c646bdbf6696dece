#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/pg/pg_store.hpp"
#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using model::Settlement;
using model::Verdict;
using pg::Params;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using tests::JobPtr;
using tests::settlement;

constexpr std::string_view follower = "billing.failed";

class FollowUps : public tests::StoreTest {
protected:
    static Settlement followed(const JobPtr& job, Verdict verdict, std::string payload = R"({"id":1})") {
        Settlement made = settlement(job, verdict);
        made.follow_up = model::FollowUp{std::string(follower), std::move(payload)};
        return made;
    }
    Claimed claim_followers(std::string_view queue = "default") {
        const std::vector<QueueRoom> rooms{{queue_id(queue), 100}};
        const std::vector<int> kinds{kind_id(follower)};
        return store().claim({node(), rooms, {}, kinds});
    }
    std::int64_t followers() {
        return number("select count(*) from @schema@.job j join @schema@.kind k on k.id = j.kind where k.name = $1",
                      Params{}.add(follower));
    }
};

TEST_F(FollowUps, are_loaded_with_the_claim_of_every_job_of_a_range_and_of_a_lost_one) {
    enqueue(2, tests::job_spec([](model::JobSpec& spec) {
                spec.on_failure = "it failed";
                spec.on_success = "it \"went\" well";
            }));
    enqueue_one();
    const Claimed claimed = claim();
    ASSERT_THAT(claimed.jobs, SizeIs(3));
    for (const int i : {0, 1}) {
        EXPECT_EQ(claimed.jobs[static_cast<std::size_t>(i)]->on_failure, "it failed");
        EXPECT_EQ(claimed.jobs[static_cast<std::size_t>(i)]->on_success, "it \"went\" well");
    }
    EXPECT_FALSE(claimed.jobs[2]->on_failure);
    EXPECT_FALSE(claimed.jobs[2]->on_success);

    let_expire(node());
    const NodeId rescuer = register_node();
    Rescued rescued = store().rescue({rescuer, 10, true});
    // The round that finds a node expired may leave its claims to the next one.
    if (rescued.claims.empty()) rescued = store().rescue({rescuer, 10, true});
    ASSERT_THAT(rescued.claims, SizeIs(1));
    EXPECT_EQ(rescued.claims[0].jobs.at(0).job->on_failure, "it failed");
}

TEST_F(FollowUps, are_written_with_the_end_in_the_jobs_queue_at_its_priority) {
    enqueue_one(tests::job_spec([](model::JobSpec& spec) { spec.priority = Priority::high; }));
    const JobPtr job = claim(1).jobs.at(0);
    EXPECT_THAT(settle({followed(job, Verdict::dead_letter, R"({"id": 7, "text": "\"{},\\"})")}), ElementsAre(true));

    const Claimed claimed = claim_followers();
    ASSERT_THAT(claimed.jobs, SizeIs(1));
    const model::ClaimedJob& follow_up = *claimed.jobs[0];
    EXPECT_EQ(follow_up.kind, follower);
    EXPECT_EQ(follow_up.facts.priority, Priority::high);
    EXPECT_EQ(follow_up.facts.attempts, 0);
    EXPECT_EQ(follow_up.queue, "default");
    EXPECT_GT(follow_up.slot.id, job->slot.id);
    EXPECT_FALSE(follow_up.on_failure);
    EXPECT_FALSE(follow_up.on_success);
    const auto payload =
        sql("select payload ->> 'id', payload ->> 'text', "
            "abs((payload ->> 'finished_at')::bigint - (extract(epoch from d.finished_at) * 1000000)::bigint) "
            "from @schema@.job j, @schema@.done d where j.id = $1 and d.id = $2",
            Params{}.add(follow_up.slot.id).add(job->slot.id));
    EXPECT_EQ(payload.text(0, 0), "7");
    EXPECT_EQ(payload.text(0, 1), "\"{},\\");
    EXPECT_LT(payload.int64(0, 2), 1'000'000);
}

TEST_F(FollowUps, of_a_stale_outcome_are_not_written) {
    enqueue(2);
    const Claimed claimed = claim();
    EXPECT_THAT(settle({followed(claimed.jobs[0], Verdict::dead_letter)}), ElementsAre(true));
    EXPECT_THAT(settle({followed(claimed.jobs[0], Verdict::dead_letter)}), ElementsAre(false));
    EXPECT_EQ(followers(), 1);
    // In one batch with one that is written.
    EXPECT_THAT(settle({followed(claimed.jobs[0], Verdict::complete), followed(claimed.jobs[1], Verdict::complete)}),
                ElementsAre(false, true));
    EXPECT_EQ(followers(), 2);
}

TEST_F(FollowUps, are_not_doubled_when_the_batch_is_sent_again) {
    enqueue(3);
    const Claimed claimed = claim();
    const std::vector<Settlement> batch{followed(claimed.jobs[0], Verdict::discard),
                                        settlement(claimed.jobs[1], Verdict::complete),
                                        followed(claimed.jobs[2], Verdict::complete)};
    for (int sent = 0; sent < 3; ++sent) {
        EXPECT_THAT(store().settle({node(), 77, batch}).applied, ElementsAre(true, true, true));
        EXPECT_EQ(followers(), 2);
        renew_store();
    }
    EXPECT_THAT(claim_followers().jobs, SizeIs(2));
}

TEST_F(FollowUps, stand_where_the_job_stands_now) {
    enqueue_one();
    const JobPtr first = claim(1).jobs.at(0);
    settle(first, Verdict::retry_at, [](model::Decision& d) {
        d.queue = "slow lane";
        d.priority = Priority::lowest;
    });
    const std::vector<QueueRoom> rooms{{queue_id("slow lane"), 1}};
    const std::vector<int> kinds{kind_id()};
    const Claimed claimed = store().claim({node(), rooms, {}, kinds});
    ASSERT_THAT(claimed.jobs, SizeIs(1));
    settle({followed(claimed.jobs[0], Verdict::dead_letter)});
    const Claimed follow_up = claim_followers("slow lane");
    ASSERT_THAT(follow_up.jobs, SizeIs(1));
    EXPECT_EQ(follow_up.jobs[0]->facts.priority, Priority::lowest);
}

TEST_F(FollowUps, wake_a_sleeper) {
    enqueue_one();
    const JobPtr job = claim(1).jobs.at(0);
    const auto listener = store().listen();
    while (!listener->wait(10s).reconnected) {
    }
    const std::vector<int> queues{queue_id()};
    store().announce_sleep({node(), queues, std::nullopt});
    settle({followed(job, Verdict::dead_letter)});
    EXPECT_THAT(listener->wait(10s).queues, ElementsAre(queue_id()));
}

}  // namespace
}  // namespace pawl::store
