#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using model::Verdict;
using pg::Params;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::job_spec;
using tests::settlement;

class Look : public tests::StoreTest {
protected:
    static model::JobSpec in_queue(std::string queue, std::optional<Duration> delay = {}) {
        return job_spec([&](auto& spec) {
            spec.queue = std::move(queue);
            if (delay) spec.due = *delay;
        });
    }
    Claimed claim_from(std::string_view queue, int room) {
        const std::vector<QueueRoom> rooms{{queue_id(queue), room}};
        const std::vector<int> kinds{kind_id()};
        return store().claim({node(), rooms, {}, kinds});
    }
};

TEST_F(Look, finds_a_job_in_every_place) {
    const JobId ready = enqueue_one();
    const JobId scheduled = enqueue_one(in_queue("later", 1h));
    const JobId running = enqueue_one(in_queue("running"));
    (void)claim_from("running", 1);

    auto found = store().find(ready);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, ready);
    EXPECT_EQ(found->kind, tests::test_kind);
    EXPECT_EQ(found->queue, "default");
    EXPECT_EQ(found->state, State::pending);
    EXPECT_EQ(found->payload, "0");
    EXPECT_GE(found->run_at.value(), found->created_at);
    EXPECT_FALSE(found->finished_at);

    found = store().find(scheduled);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->state, State::pending);
    EXPECT_EQ(found->queue, "later");
    EXPECT_GE(found->run_at.value() - found->created_at, 1h);

    found = store().find(running);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->state, State::running);
    EXPECT_FALSE(found->run_at);
    EXPECT_FALSE(found->finished_at);

    for (const auto& [verdict, state] :
         {std::pair{Verdict::complete, State::succeeded}, std::pair{Verdict::cancel, State::canceled},
          std::pair{Verdict::dead_letter, State::failed}, std::pair{Verdict::discard, State::failed}}) {
        const JobId ended = enqueue_one(in_queue("running"));
        settle(claim_from("running", 1).jobs.at(0), verdict);
        found = store().find(ended);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->state, state);
        EXPECT_EQ(found->queue, "running");
        EXPECT_EQ(found->discarded, verdict == Verdict::discard);
        EXPECT_GE(found->finished_at.value(), found->created_at);
        EXPECT_FALSE(found->run_at);
    }
}

TEST_F(Look, finds_each_job_of_a_range_and_none_beside_it) {
    const std::vector<JobId> ids = enqueue(100);
    const std::vector<JobId> few = enqueue(3);
    const std::vector<JobId> later = enqueue(3, in_queue("later", 1h));
    EXPECT_EQ(store().find(ids[0])->payload, "0");
    EXPECT_EQ(store().find(ids[57])->payload, "57");
    EXPECT_EQ(store().find(ids[99])->payload, "99");
    EXPECT_EQ(store().find(few[2])->payload, "2");
    EXPECT_EQ(store().find(later[2])->state, State::pending);
    for (const JobId unknown : {few[2] + 1, few[0] + 99, ids[0] - 1, JobId{0}, JobId{-1},
                                std::numeric_limits<JobId>::max(), std::numeric_limits<JobId>::min()}) {
        EXPECT_FALSE(store().find(unknown)) << unknown;
    }
    // In the middle of a claim that is partly settled.
    const Claimed claimed = claim(10);
    settle({settlement(claimed.jobs[3], Verdict::complete), settlement(claimed.jobs[5], Verdict::snooze)});
    EXPECT_EQ(store().find(ids[2])->state, State::running);
    EXPECT_EQ(store().find(ids[3])->state, State::succeeded);
    EXPECT_EQ(store().find(ids[5])->state, State::pending);
    EXPECT_EQ(store().find(ids[10])->state, State::pending);
}

TEST_F(Look, counts_what_stands_where_in_all_queues_and_in_one) {
    enqueue(250);
    enqueue(120, in_queue("mail", 1h));
    enqueue(10, in_queue("mail"));
    const Claimed claimed = claim_from("mail", 10);
    settle({settlement(claimed.jobs[0], Verdict::complete), settlement(claimed.jobs[1], Verdict::complete),
            settlement(claimed.jobs[2], Verdict::dead_letter), settlement(claimed.jobs[3], Verdict::discard),
            settlement(claimed.jobs[4], Verdict::cancel), settlement(claimed.jobs[5], Verdict::retry_at)});
    const JobCounts all = store().counts(std::nullopt);
    EXPECT_EQ(all.ready, 251);
    EXPECT_EQ(all.scheduled, 120);
    EXPECT_EQ(all.running, 4);
    EXPECT_EQ(all.succeeded, 2);
    EXPECT_EQ(all.failed, 2);
    EXPECT_EQ(all.canceled, 1);
    const JobCounts mail = store().counts("mail");
    EXPECT_EQ(mail.ready, 1);
    EXPECT_EQ(mail.scheduled, 120);
    EXPECT_EQ(mail.running, 4);
    EXPECT_EQ(mail.succeeded, 2);
    EXPECT_EQ(mail.failed, 2);
    EXPECT_EQ(mail.canceled, 1);
    const JobCounts other = store().counts("default");
    EXPECT_EQ(other.ready, 250);
    EXPECT_EQ(other.scheduled + other.running + other.succeeded + other.failed + other.canceled, 0);
    EXPECT_EQ(store().counts("no such queue").ready, 0);
}

TEST_F(Look, verify_finds_nothing_wrong_where_nothing_is) {
    enqueue(250);
    enqueue(10, in_queue("later", 1h));
    const Claimed claimed = claim(20);
    settle({settlement(claimed.jobs[0], Verdict::complete), settlement(claimed.jobs[1], Verdict::retry_at),
            settlement(claimed.jobs[2], Verdict::release, [](auto& d) { d.delay = 1min; })});
    EXPECT_THAT(store().verify(), IsEmpty());
}

TEST_F(Look, verify_finds_a_job_in_two_places) {
    const std::vector<JobId> ids = enqueue(100);
    const Claimed claimed = claim(5);
    sql("insert into @schema@.scheduled (first_id, run_at, queue, kind, n, priority) values ($1, now(), 1, 1, 2, 2)",
        Params{}.add(ids[4]));
    sql("insert into @schema@.done (id, finished_at, state, attempts) values ($1, now(), 'failed', 0)",
        Params{}.add(ids[50]));
    const std::vector<Misplaced> wrong = store().verify();
    ASSERT_THAT(wrong, SizeIs(3));
    EXPECT_EQ(wrong[0].id, ids[4]);
    EXPECT_THAT(wrong[0].places, ElementsAre("claim " + std::to_string(claimed.jobs[0]->slot.token), "scheduled"));
    EXPECT_EQ(wrong[1].id, ids[5]);
    EXPECT_THAT(wrong[1].places, ElementsAre("ready", "scheduled"));
    EXPECT_EQ(wrong[2].id, ids[50]);
    EXPECT_THAT(wrong[2].places, ElementsAre("done", "ready"));
    sql("delete from @schema@.scheduled");
    sql("delete from @schema@.done");
}

TEST_F(Look, verify_finds_a_job_in_no_place_and_a_place_without_a_job) {
    const std::vector<JobId> lost = enqueue(3);
    sql("delete from @schema@.ready");
    const JobId unknown = enqueue_one();
    sql("delete from @schema@.job where id = $1", Params{}.add(unknown));
    const std::vector<Misplaced> wrong = store().verify();
    ASSERT_THAT(wrong, SizeIs(4));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(wrong[i].id, lost[i]);
        EXPECT_THAT(wrong[i].places, IsEmpty());
    }
    EXPECT_EQ(wrong[3].id, unknown);
    EXPECT_THAT(wrong[3].places, ElementsAre("ready"));
    sql("delete from @schema@.ready");
    sql("delete from @schema@.job");
}

TEST_F(Look, verify_can_be_bounded_to_a_window_of_ids) {
    const std::vector<JobId> ids = enqueue(10);
    enqueue(10);
    sql("insert into @schema@.done (id, finished_at, state, attempts) values ($1, now(), 'failed', 0)",
        Params{}.add(ids[5]));
    const auto in_window = [&](JobId from, JobId end) {
        return number("select count(*) from @schema@.verify($1, $2)", Params{}.add(from).add(end));
    };
    EXPECT_EQ(in_window(ids[0], ids[5]), 0);
    EXPECT_EQ(in_window(ids[5], ids[5] + 1), 1);
    EXPECT_EQ(in_window(ids[6], ids[0] + 1000), 0);
    EXPECT_EQ(in_window(0, ids[0] + 1000), 1);
    sql("delete from @schema@.done");
}

TEST_F(Look, shows_every_job_in_the_view_for_people) {
    enqueue(100);
    enqueue_one(job_spec([](auto& spec) {
        spec.queue = "later";
        spec.priority = Priority::lowest;
        spec.due = Duration(1h);
        spec.tags = {"a"};
        spec.params = {{"tenant", "x"}};
    }));
    const Claimed claimed = claim(3);
    settle({settlement(claimed.jobs[0], Verdict::complete, [](auto& d) { d.result = "{\"a\": 1}"; }),
            settlement(claimed.jobs[1], Verdict::dead_letter, [](auto& d) {
                d.counted = true;
                d.reason = Reason::exhausted;
                d.error = ErrorRecord{.type = "T", .message = "m", .causes = {}, .error_class = {}, .truncated = {}};
            })});
    EXPECT_EQ(number("select count(*) from @schema@.jobs"), 101);
    EXPECT_EQ(number("select count(distinct id) from @schema@.jobs"), 101);
    const auto states = sql("select state, count(*) from @schema@.jobs group by state order by state");
    ASSERT_EQ(states.size(), 4U);
    EXPECT_EQ(states.text(0, 0), "pending");
    EXPECT_EQ(states.int64(0, 1), 98);
    EXPECT_EQ(states.text(1, 0), "running");
    EXPECT_EQ(states.text(2, 0), "succeeded");
    EXPECT_EQ(states.text(3, 0), "failed");
    const auto later =
        sql("select kind, priority, tags[1], params ->> 'tenant', (run_at > now())::text, payload::text "
            "from @schema@.jobs where queue = 'later'");
    ASSERT_EQ(later.size(), 1U);
    EXPECT_EQ(later.text(0, 0), tests::test_kind);
    EXPECT_EQ(later.text(0, 1), "lowest");
    EXPECT_EQ(later.text(0, 2), "a");
    EXPECT_EQ(later.text(0, 3), "x");
    EXPECT_EQ(later.text(0, 4), "true");
    const auto failed =
        sql("select attempts, reason, error ->> 'message', node from @schema@.jobs where state = 'failed'");
    EXPECT_EQ(failed.int64(0, 0), 1);
    EXPECT_EQ(failed.text(0, 1), "exhausted");
    EXPECT_EQ(failed.text(0, 2), "m");
    EXPECT_EQ(failed.int64(0, 3), node());
}

}  // namespace
}  // namespace pawl::store
