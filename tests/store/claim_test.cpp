#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using pg::Params;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using tests::ids_of;
using tests::job_spec;

class Claims : public tests::StoreTest {
protected:
    model::JobSpec of(Priority priority, std::string queue = "default") {
        return job_spec([&](auto& spec) {
            spec.priority = priority;
            spec.queue = std::move(queue);
        });
    }
    Claimed claim_from(std::vector<QueueRoom> rooms, std::vector<ClaimStart> starts = {}) {
        const std::vector<int> kinds{kind_id()};
        return store().claim({node(), rooms, starts, kinds});
    }
    /// As if it had become due that long ago.
    void age(JobId id, std::string_view by) {
        sql("update @schema@.ready set run_at = run_at - $2::interval where first_id = $1", Params{}.add(id).add(by));
    }
};

TEST_F(Claims, of_nothing_is_nothing) {
    const Claimed claimed = claim();
    EXPECT_THAT(claimed.jobs, IsEmpty());
    EXPECT_TRUE(claimed.node_alive);
    EXPECT_FALSE(claimed.met_locks);
    EXPECT_GT(claimed.oldest_writer, 0U);
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
}

TEST_F(Claims, give_each_batch_one_token_and_each_job_its_position) {
    enqueue(5);
    const Claimed first = claim(3);
    const Claimed second = claim(3);
    ASSERT_THAT(first.jobs, SizeIs(3));
    ASSERT_THAT(second.jobs, SizeIs(2));
    for (int i = 0; i < 3; ++i) {
        const model::ClaimedJob& job = *first.jobs[static_cast<std::size_t>(i)];
        EXPECT_EQ(job.slot.token, first.jobs.front()->slot.token);
        EXPECT_EQ(job.slot.position, i);
        EXPECT_EQ(job.payload, std::to_string(i));
    }
    EXPECT_GT(second.jobs.front()->slot.token, first.jobs.front()->slot.token);
}

TEST_F(Claims, go_by_priority_then_by_the_time_they_became_due) {
    const JobId low = enqueue_one(of(Priority::low));
    const JobId normal = enqueue_one(of(Priority::normal));
    const JobId lowest = enqueue_one(of(Priority::lowest));
    const JobId critical = enqueue_one(of(Priority::critical));
    const JobId high = enqueue_one(of(Priority::high));
    const JobId normal_older = enqueue_one(of(Priority::normal));
    age(normal_older, "10 seconds");
    EXPECT_THAT(ids_of(claim()), ElementsAre(critical, high, normal_older, normal, low, lowest));
}

TEST_F(Claims, keep_the_order_of_enqueueing_among_equals) {
    const std::vector<JobId> ids = enqueue(250);
    std::vector<JobId> claimed;
    for (int i = 0; i < 10; ++i) {
        for (const JobId id : ids_of(claim(33))) claimed.push_back(id);
    }
    EXPECT_EQ(claimed, ids);
}

// B124: a level counts as a minute of waiting, so the lowest goes before critical ones that became due four minutes later.
TEST_F(Claims, let_waiting_time_outweigh_priority) {
    const JobId lowest = enqueue_one(of(Priority::lowest));
    age(lowest, "4 minutes 1 second");
    const JobId low = enqueue_one(of(Priority::low));
    age(low, "2 minutes 59 seconds");
    enqueue(200, of(Priority::critical));
    const std::vector<JobId> first = ids_of(claim(10));
    EXPECT_EQ(first.front(), lowest);
    EXPECT_THAT(first, ::testing::Not(::testing::Contains(low)));
}

TEST_F(Claims, take_no_more_of_each_queue_than_it_has_room_for) {
    const std::vector<JobId> a = enqueue(5, of(Priority::normal, "a"));
    const std::vector<JobId> b = enqueue(5, of(Priority::low, "b"));
    enqueue(5, of(Priority::critical, "c"));
    const Claimed claimed =
        claim_from({{queue_id("a"), 2}, {queue_id("b"), 4}, {queue_id("empty"), 7}, {queue_id("c"), 0}});
    EXPECT_THAT(ids_of(claimed), ElementsAre(a[0], a[1], b[0], b[1], b[2], b[3]));
    EXPECT_EQ(store().counts("c").ready, 5);
}

TEST_F(Claims, cut_a_range_and_put_the_rest_back_where_it_was) {
    const std::vector<JobId> ids = enqueue(100);
    age(ids.front(), "1 second");
    const Time run_at = store().find(ids.back())->run_at.value();
    EXPECT_EQ(ids_of(claim(30)), std::vector<JobId>(ids.begin(), ids.begin() + 30));
    EXPECT_EQ(number("select count(*) from @schema@.ready"), 1);
    EXPECT_EQ(number("select first_id from @schema@.ready"), ids[30]);
    EXPECT_EQ(number("select n from @schema@.ready"), 70);
    EXPECT_EQ(store().find(ids.back())->run_at, run_at);
    EXPECT_EQ(ids_of(claim(100)), std::vector<JobId>(ids.begin() + 30, ids.end()));
    EXPECT_EQ(number("select count(*) from @schema@.ready"), 0);
}

// A claim's arrays and its bitmap have a fixed width, so one statement makes as many claims as it takes.
TEST_F(Claims, hold_at_most_128_jobs_each_whatever_the_rooms_are) {
    std::vector<QueueRoom> rooms;
    for (const char* queue : {"a", "b", "c"}) {
        enqueue(100, of(Priority::normal, queue));
        rooms.push_back({queue_id(queue), 100});
    }
    const Claimed claimed = claim_from(rooms);
    ASSERT_THAT(claimed.jobs, SizeIs(300));
    std::map<ClaimToken, std::vector<int>> positions;
    std::vector<model::Settlement> settlements;
    for (const auto& job : claimed.jobs) {
        positions[job->slot.token].push_back(job->slot.position);
        settlements.push_back(tests::settlement(job, model::Verdict::complete));
    }
    std::vector<std::size_t> sizes;
    for (const auto& [token, places] : positions) {
        sizes.push_back(places.size());
        for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], static_cast<int>(i));
    }
    EXPECT_THAT(sizes, ElementsAre(128U, 128U, 44U));
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 3);
    EXPECT_EQ(number("select count(*) from @schema@.live where state = 'running'"), 300);

    EXPECT_THAT(settle(settlements), ::testing::Each(true));
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.done"), 300);
}

TEST_F(Claims, fill_the_last_claim_to_its_last_place) {
    enqueue(256);
    const Claimed claimed = claim(256);
    ASSERT_THAT(claimed.jobs, SizeIs(256));
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 2);
    EXPECT_EQ(number("select sum(bit_count(settled)) from @schema@.claim"), 0);
    EXPECT_EQ(claimed.jobs.back()->slot.position, 127);
}

// Only the first job of a range carries what all of it have in common.
TEST_F(Claims, know_of_each_job_what_its_whole_call_was_given) {
    const auto alike = [](auto& spec) {
        spec.tags = {"one", "two"};
        spec.params = {{"tenant", "7"}};
        spec.max_retries = 9;
        spec.timeout = std::chrono::seconds(11);
        spec.payload_version = 3;
        spec.priority = Priority::high;
    };
    const std::vector<JobId> ids = enqueue(3, job_spec(alike));
    const JobId plain = enqueue_one();
    const Claimed claimed = claim(10);
    ASSERT_THAT(ids_of(claimed), ElementsAre(ids[0], ids[1], ids[2], plain));
    for (std::size_t i = 0; i < 3; ++i) {
        const model::ClaimedJob& job = *claimed.jobs[i];
        EXPECT_THAT(job.tags, ElementsAre("one", "two"));
        EXPECT_EQ(job.params.at("tenant"), "7");
        EXPECT_EQ(job.max_retries, 9);
        EXPECT_EQ(job.timeout->microseconds(), std::chrono::seconds(11));
        EXPECT_EQ(job.payload_version, 3);
        EXPECT_EQ(job.facts.priority, Priority::high);
        EXPECT_EQ(job.created_at, claimed.jobs[0]->created_at);
        EXPECT_FALSE(job.payload.empty());
    }
    EXPECT_THAT(claimed.jobs[3]->tags, IsEmpty());
    EXPECT_EQ(claimed.jobs[3]->max_retries, std::nullopt);
}

TEST_F(Claims, leave_kinds_alone_that_nobody_here_handles) {
    const JobId known = enqueue_one();
    const JobId unknown = enqueue_one(job_spec([](auto& spec) {
        spec.kind = "unknown.here";
        spec.priority = Priority::critical;
    }));
    EXPECT_THAT(ids_of(claim(1)), ElementsAre(known));
    EXPECT_THAT(claim().jobs, IsEmpty());
    EXPECT_EQ(place_of(unknown), "ready");
    const std::vector<QueueRoom> rooms{{queue_id(), 5}};
    EXPECT_THAT(store().claim({node(), rooms, {}, {}}).jobs, IsEmpty());
}

TEST_F(Claims, take_nothing_of_a_paused_queue) {
    const JobId paused = enqueue_one(of(Priority::critical, "paused"));
    const JobId other = enqueue_one(of(Priority::low, "other"));
    sql("update @schema@.queue set paused = true where name = 'paused'");
    const std::vector<QueueRoom> rooms{{queue_id("paused"), 5}, {queue_id("other"), 5}};
    EXPECT_THAT(ids_of(claim_from(rooms)), ElementsAre(other));
    sql("update @schema@.queue set paused = false where name = 'paused'");
    EXPECT_THAT(ids_of(claim_from(rooms)), ElementsAre(paused));
}

TEST_F(Claims, give_nothing_to_a_node_that_is_not_alive) {
    const JobId id = enqueue_one();
    const NodeId stopped = register_node();
    store().say_goodbye(stopped);
    const NodeId dead = register_node();
    sql("update @schema@.node set state = 'dead' where id = $1", Params{}.add(dead));
    for (const NodeId gone : {stopped, dead, NodeId{987654321}}) {
        const Claimed claimed = claim(store(), gone);
        EXPECT_FALSE(claimed.node_alive);
        EXPECT_THAT(claimed.jobs, IsEmpty());
    }
    EXPECT_EQ(place_of(id), "ready");
}

// What stands before the mark was seen before; what is new stands behind it.
TEST_F(Claims, begin_to_look_after_the_start_of_each_level) {
    const JobId before = enqueue_one();
    const JobId at = enqueue_one();
    const JobId after = enqueue_one();
    const JobId high = enqueue_one(of(Priority::high));
    age(before, "2 hours");
    age(at, "1 hour");
    const ClaimStart start{queue_id(), Priority::normal, store().find(at)->run_at.value(), at};
    const std::vector<QueueRoom> rooms{{queue_id(), 10}};
    EXPECT_THAT(ids_of(claim_from(rooms, {start})), UnorderedElementsAre(after, high));
    EXPECT_THAT(ids_of(claim_from(rooms)), ElementsAre(before, at));
}

TEST_F(Claims, continue_a_cut_range_from_its_own_job_as_start) {
    const std::vector<JobId> ids = enqueue(10);
    const Claimed first = claim(4);
    const model::ClaimedJob& last = *first.jobs.back();
    const ClaimStart start{queue_id(), Priority::normal, last.run_at, last.slot.id};
    EXPECT_EQ(ids_of(claim_from({{queue_id(), 10}}, {start})), std::vector<JobId>(ids.begin() + 4, ids.end()));
}

TEST_F(Claims, skip_rows_that_somebody_else_holds_and_say_so) {
    const JobId locked = enqueue_one();
    const JobId free = enqueue_one();
    pqxx::connection connection(dsn());
    pqxx::work work(connection);
    work.exec(pg::with_schema("select from @schema@.ready where first_id = " + std::to_string(locked) + " for update",
                              schema()));
    const Claimed claimed = claim();
    EXPECT_THAT(ids_of(claimed), ElementsAre(free));
    EXPECT_TRUE(claimed.met_locks);
    work.abort();
    const Claimed later = claim();
    EXPECT_THAT(ids_of(later), ElementsAre(locked));
    EXPECT_FALSE(later.met_locks);
}

TEST_F(Claims, never_give_a_job_to_two_nodes) {
    constexpr int claimers = 4;
    const std::size_t total = enqueue(2000).size() + enqueue(2000, of(Priority::high)).size();
    for (int i = 0; i < 100; ++i) enqueue_one();
    std::vector<NodeId> nodes;
    for (int i = 0; i < claimers; ++i) nodes.push_back(register_node());
    const std::vector<QueueRoom> rooms{{queue_id(), 37}};
    const std::vector<int> kinds{kind_id()};

    std::vector<std::vector<JobId>> taken(claimers);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < claimers; ++i) {
            threads.emplace_back([&, i] {
                const auto own = new_store();
                for (int empty = 0; empty < 3;) {
                    const Claimed claimed = own->claim({nodes[i], rooms, {}, kinds});
                    if (claimed.jobs.empty() && !claimed.met_locks) ++empty;
                    for (const auto& job : claimed.jobs) taken[i].push_back(job->slot.id);
                }
            });
        }
    }
    std::set<JobId> distinct;
    std::size_t all = 0;
    for (const auto& ids : taken) {
        all += ids.size();
        distinct.insert(ids.begin(), ids.end());
    }
    EXPECT_EQ(all, total + 100);
    EXPECT_EQ(distinct.size(), all);
    EXPECT_THAT(store().verify(), IsEmpty());
}

// B078: the outcome is still accepted, the slot is free again, and the next job is not held up.
TEST_F(Claims, survive_that_somebody_deleted_the_job_by_hand) {
    const JobId before = enqueue_one();
    const JobId during = enqueue_one();
    const JobId whole = enqueue_one();
    sql("delete from @schema@.job where id = $1", Params{}.add(before));
    const Claimed claimed = claim();
    ASSERT_THAT(ids_of(claimed), ElementsAre(before, during, whole));
    EXPECT_EQ(claimed.jobs[0]->payload, "");
    EXPECT_EQ(claimed.jobs[0]->kind, tests::test_kind);
    sql("delete from @schema@.job where id = $1", Params{}.add(during));
    EXPECT_FALSE(store().find(before));
    std::vector<model::Settlement> settlements;
    for (const auto& job : claimed.jobs) settlements.push_back(tests::settlement(job, model::Verdict::complete));
    EXPECT_THAT(settle(settlements), ElementsAre(true, true, true));
    EXPECT_THAT(claim().jobs, IsEmpty());
    EXPECT_EQ(store().find(whole)->state, State::succeeded);
    EXPECT_THAT(store().verify(), SizeIs(2));
    sql("delete from @schema@.done where id <> $1", Params{}.add(whole));
}

TEST_F(Claims, carry_what_happened_to_the_job_before) {
    const JobId id = enqueue_one();
    sql("update @schema@.ready set attempts = 3, crashes = 2, losses = 1 where first_id = $1", Params{}.add(id));
    sql(R"sql(
        insert into @schema@.attempt (id, finished_at, token, attempt, counted, redriven, decision, rule)
        values ($1, now(), 1, 1, true, false, 'retry_at', 'busy'),
               ($1, now(), 2, 2, true, false, 'retry_at', 'busy'),
               ($1, now(), 3, 3, true, false, 'retry_at', 'sl"ow, {x}'),
               ($1, now(), 4, 4, true, false, 'retry_at', null),
               ($1, now(), 5, 5, false, false, 'retry_at', 'uncounted'),
               ($1, now(), 6, 6, true, true, 'retry_at', 'redriven'))sql",
        Params{}.add(id));
    const Claimed claimed = claim();
    ASSERT_THAT(claimed.jobs, SizeIs(1));
    const model::ClaimedJob& job = *claimed.jobs.front();
    EXPECT_EQ(job.facts.attempts, 3);
    EXPECT_EQ(job.attempt(), 4);
    EXPECT_EQ(job.facts.crashes, 2);
    EXPECT_EQ(job.facts.losses, 1);
    EXPECT_THAT(job.rule_counts, UnorderedElementsAre(std::pair{"busy", 2}, std::pair{"sl\"ow, {x}", 1}));
}

TEST_F(Claims, see_nothing_that_is_not_committed) {
    pqxx::connection connection(dsn());
    pqxx::work work(connection);
    const std::vector<std::string> payloads{"1"};
    const JobId id = store().enqueue(work, {job_spec(), payloads}).front();
    EXPECT_THAT(claim().jobs, IsEmpty());
    work.commit();
    EXPECT_THAT(ids_of(claim()), ElementsAre(id));
}

}  // namespace
}  // namespace pawl::store
