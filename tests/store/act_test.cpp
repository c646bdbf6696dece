#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

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
using tests::ids_of;
using tests::job_spec;
using tests::settlement;

class Acts : public tests::StoreTest {
protected:
    static model::JobSpec later() {
        return job_spec([](auto& spec) { spec.due = Duration(1h); });
    }

    JobId running() {
        const JobId id = enqueue_one();
        EXPECT_THAT(ids_of(claim()), ElementsAre(id));
        return id;
    }
    JobId ended(Verdict verdict) {
        const JobId id = enqueue_one();
        (void)settle(claim().jobs.at(0), verdict, [&](model::Decision& decision) {
            if (verdict != Verdict::dead_letter) return;
            decision.reason = Reason::permanent;
            decision.counted = true;
            decision.error = ErrorRecord{.type = "Broken", .message = "it is broken"};
        });
        return id;
    }
    JobId paused() {
        const JobId id = enqueue_one();
        EXPECT_TRUE(store().pause({id, "", ""}).done);
        return id;
    }
    State state_of(JobId id) { return store().find(id).value().state; }
};

// Every verb on a job in every state.
TEST_F(Acts, apply_where_they_do_and_say_where_the_job_stands_else) {
    struct Start {
        const char* name;
        std::function<JobId()> make;
    };
    const std::vector<Start> starts{
        {"ready", [&] { return enqueue_one(); }},
        {"scheduled", [&] { return enqueue_one(later()); }},
        {"running", [&] { return running(); }},
        {"paused", [&] { return paused(); }},
        {"succeeded", [&] { return ended(Verdict::complete); }},
        {"dead letter", [&] { return ended(Verdict::dead_letter); }},
        {"discarded", [&] { return ended(Verdict::discard); }},
        {"canceled", [&] { return ended(Verdict::cancel); }},
    };
    using Verb = std::function<Acted(JobId)>;
    const std::map<std::string, Verb> verbs{
        {"cancel",
         [&](JobId id) {
             return store().cancel({id, "me", "because"});
         }},
        {"pause",
         [&](JobId id) {
             return store().pause({id, "me", "because"});
         }},
        {"resume",
         [&](JobId id) {
             return store().resume({id, "me", "because"});
         }},
        {"redrive",
         [&](JobId id) {
             return store().redrive(Redrive{{id, "me", "because"}});
         }},
    };
    using Cell = std::pair<bool, State>;
    const std::map<std::string, std::vector<Cell>> expected{
        {"cancel",
         {{true, State::canceled},
          {true, State::canceled},
          {true, State::canceled},
          {true, State::canceled},
          {false, State::succeeded},
          {false, State::failed},
          {false, State::failed},
          {false, State::canceled}}},
        {"pause",
         {{true, State::paused},
          {true, State::paused},
          {false, State::running},
          {false, State::paused},
          {false, State::succeeded},
          {false, State::failed},
          {false, State::failed},
          {false, State::canceled}}},
        {"resume",
         {{false, State::pending},
          {false, State::pending},
          {false, State::running},
          {true, State::pending},
          {false, State::succeeded},
          {false, State::failed},
          {false, State::failed},
          {false, State::canceled}}},
        {"redrive",
         {{false, State::pending},
          {false, State::pending},
          {false, State::running},
          {false, State::paused},
          {false, State::succeeded},
          {true, State::pending},
          {true, State::pending},
          {false, State::canceled}}},
    };
    for (const auto& [name, verb] : verbs) {
        for (std::size_t i = 0; i < starts.size(); ++i) {
            SCOPED_TRACE(name + " of one that is " + starts[i].name);
            const auto [done, state] = expected.at(name).at(i);
            const JobId id = starts[i].make();
            const Acted acted = verb(id);
            EXPECT_EQ(acted.done, done);
            EXPECT_EQ(acted.state, state);
            EXPECT_EQ(acted.kind, tests::test_kind);
            EXPECT_EQ(acted.queue, "default");
            EXPECT_EQ(state_of(id), state);
            EXPECT_EQ(number("select count(*) from @schema@.act where job = $1 and by = 'me' and why = 'because'",
                             Params{}.add(id)),
                      done ? 1 : 0);
            // Out of the way of the next one.
            (void)store().cancel({id, "", ""});
        }
    }
    for (const auto& [name, verb] : verbs) {
        SCOPED_TRACE(name);
        const Acted acted = verb(987'654'321);
        EXPECT_FALSE(acted.done);
        EXPECT_EQ(acted.state, std::nullopt);
    }
}

TEST_F(Acts, take_one_out_of_a_range_and_leave_the_rest_where_it_was) {
    for (const std::size_t at : {0U, 1U, 50U, 98U, 99U}) {
        SCOPED_TRACE(at);
        const std::vector<JobId> ids = enqueue(100);
        EXPECT_TRUE(store().cancel({ids[at], "", ""}).done);
        EXPECT_EQ(number("select coalesce(sum(n), 0) from @schema@.ready"), 99);
        EXPECT_EQ(number("select count(*) from @schema@.ready"), at == 0 || at == 99 ? 1 : 2);
        EXPECT_EQ(number("select count(distinct run_at) from @schema@.ready"), 1);
        std::vector<JobId> rest = ids;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
        const Claimed claimed = claim(200);
        EXPECT_EQ(ids_of(claimed), rest);
        std::vector<model::Settlement> settlements;
        for (const auto& job : claimed.jobs) settlements.push_back(settlement(job, Verdict::complete));
        (void)settle(settlements);
    }
    const std::vector<JobId> scheduled = enqueue(10, later());
    EXPECT_TRUE(store().pause({scheduled[4], "", ""}).done);
    EXPECT_EQ(number("select count(*) from @schema@.scheduled"), 2);
    EXPECT_TRUE(store().resume({scheduled[4], "", ""}).done);
    EXPECT_EQ(number("select count(*) from @schema@.scheduled"), 3);
    EXPECT_EQ(number("select count(distinct run_at) from @schema@.scheduled"), 1);
}

TEST_F(Acts, fence_the_owner_of_a_canceled_run_and_tell_its_node_until_it_has_heard) {
    const std::vector<JobId> ids = enqueue(3);
    const Claimed claimed = claim();
    EXPECT_TRUE(store().cancel({ids[1], "", "not wanted"}).done);
    EXPECT_EQ(state_of(ids[1]), State::canceled);

    for (int beat = 0; beat < 2; ++beat) {
        const Pulse pulse = store().heartbeat({node(), 0, {}});
        ASSERT_THAT(pulse.canceled, SizeIs(1));
        EXPECT_EQ(pulse.canceled[0].id, ids[1]);
        EXPECT_EQ(pulse.canceled[0].token, claimed.jobs[1]->slot.token);
        EXPECT_THAT(pulse.claims, SizeIs(1));
        EXPECT_TRUE(pulse.alive);
    }
    const std::vector<std::int64_t> heard{store().heartbeat({node(), 0, {}}).canceled.at(0).number};
    // One that was numbered before it and is committed after it must be told as well.
    sql("insert into @schema@.canceled_run (number, node, token, id) overriding system value values ($1, $2, 1, 2)",
        Params{}.add(heard[0] - 1).add(node()));
    const Pulse late = store().heartbeat({node(), 0, heard});
    ASSERT_THAT(late.canceled, SizeIs(1));
    EXPECT_EQ(late.canceled[0].number, heard[0] - 1);
    EXPECT_THAT(store().heartbeat({node(), 0, std::vector{heard[0] - 1}}).canceled, IsEmpty());
    EXPECT_EQ(number("select count(*) from @schema@.canceled_run"), 0);

    std::vector<model::Settlement> settlements;
    for (const auto& job : claimed.jobs) settlements.push_back(settlement(job, Verdict::complete));
    EXPECT_THAT(settle(settlements), ElementsAre(true, false, true));
    EXPECT_EQ(state_of(ids[1]), State::canceled);
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
}

TEST_F(Acts, end_a_claim_with_its_last_job) {
    const JobId id = running();
    EXPECT_TRUE(store().cancel({id, "", ""}).done);
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
}

// A job that workers move about is in no place of some snapshots: that must never be taken for an answer.
TEST_F(Acts, find_a_job_that_is_always_on_the_move) {
    const JobId id = enqueue_one();
    std::atomic<bool> stop{false};
    const auto mover = new_store();
    const NodeId owner = register_node();
    const std::vector<QueueRoom> rooms{{queue_id(), 10}};
    const std::vector<int> kinds{kind_id()};
    std::jthread moving([&] {
        std::int64_t seq = 0;
        while (!stop) {
            for (const auto& job : mover->claim({owner, rooms, {}, kinds}).jobs)
                (void)mover->settle({owner, ++seq, std::vector{settlement(job, Verdict::snooze)}});
        }
    });
    int paused = 0;
    for (int i = 0; i < 100; ++i) {
        const Acted acted = store().pause({id, "", ""});
        ASSERT_TRUE(acted.done || acted.state == State::running) << i;
        if (!acted.done) continue;
        ++paused;
        ASSERT_TRUE(store().resume({id, "", ""}).done);
    }
    const Acted canceled = store().cancel({id, "", ""});
    stop = true;
    EXPECT_TRUE(canceled.done);
    moving.join();
    EXPECT_EQ(state_of(id), State::canceled);
    RecordProperty("paused", paused);
}

// A cancellation and a completion that race end in exactly one of the two.
TEST_F(Acts, race_with_a_completion_for_one_verdict) {
    const auto canceler = new_store();
    int canceled = 0;
    for (int i = 0; i < 100; ++i) {
        const JobId id = running();
        const Pulse pulse = store().heartbeat({node(), 0, {}});
        std::atomic<bool> go{false};
        bool done = false;
        std::jthread other([&] {
            while (!go) {
            }
            done = canceler->cancel({id, "", ""}).done;
        });
        const auto loaded = sql("select id from @schema@.claim");
        model::ClaimedJob job;
        job.slot = {.token = loaded.int64(0, 0), .position = 0, .id = id};
        job.facts.queue = queue_id();
        job.facts.kind = kind_id();
        go = true;
        const std::vector<bool> applied =
            settle({settlement(std::make_shared<const model::ClaimedJob>(job), Verdict::complete)});
        other.join();
        ASSERT_NE(applied.at(0), done);
        ASSERT_EQ(state_of(id), done ? State::canceled : State::succeeded);
        if (done) ++canceled;
    }
    RecordProperty("canceled", canceled);
}

TEST_F(Acts, resume_what_is_due_by_now_into_the_ready_ones) {
    const JobId id = enqueue_one(later());
    ASSERT_TRUE(store().pause({id, "", ""}).done);
    EXPECT_EQ(place_of(id), "parked");
    sql("update @schema@.parked set run_at = clock_timestamp() - interval '1 second'");
    ASSERT_TRUE(store().resume({id, "", ""}).done);
    EXPECT_EQ(place_of(id), "ready");
    EXPECT_THAT(ids_of(claim()), ElementsAre(id));
}

// What falls due while it is resumed stands in one place afterwards, whichever that is.
TEST_F(Acts, resume_into_one_place_what_falls_due_meanwhile) {
    const JobId id = enqueue_one(later());
    ASSERT_TRUE(store().pause({id, "", ""}).done);
    // Its due time passes between the two insertions of the statement, whichever of them comes first.
    sql(R"(create function @schema@.linger() returns trigger language plpgsql as $$
           declare until constant timestamptz := clock_timestamp() + interval '60 ms';
           begin
               while clock_timestamp() < until loop end loop;
               return null;
           end $$)");
    for (const char* place : {"ready", "scheduled"})
        sql("create trigger linger before insert on @schema@." + std::string(place) +
            " for each statement execute function @schema@.linger()");
    sql("update @schema@.parked set run_at = clock_timestamp() + interval '50 ms'");
    ASSERT_TRUE(store().resume({id, "", ""}).done);
    const std::string place = place_of(id);
    EXPECT_TRUE(place == "ready" || place == "scheduled") << place;
}

TEST_F(Acts, keep_what_a_job_has_been_through) {
    const JobId id = enqueue_one(job_spec([](auto& spec) { spec.priority = Priority::high; }));
    sql("update @schema@.ready set attempts = 3, crashes = 2, losses = 1");
    ASSERT_TRUE(store().pause({id, "", ""}).done);
    ASSERT_TRUE(store().resume({id, "", ""}).done);
    const Claimed claimed = claim();
    ASSERT_THAT(claimed.jobs, SizeIs(1));
    EXPECT_EQ(claimed.jobs[0]->facts.attempts, 3);
    EXPECT_EQ(claimed.jobs[0]->facts.crashes, 2);
    EXPECT_EQ(claimed.jobs[0]->facts.losses, 1);
    EXPECT_EQ(claimed.jobs[0]->facts.priority, Priority::high);
}

TEST_F(Acts, count_what_is_paused) {
    (void)paused();
    EXPECT_EQ(store().counts(std::nullopt).paused, 1);
    EXPECT_EQ(store().counts("default").paused, 1);
    EXPECT_EQ(store().counts("other").paused, 0);
    EXPECT_EQ(store().counts(std::nullopt).ready, 0);
}

class Standing : public Acts {
protected:
    std::vector<JobId> standing(const JobFilter& filter, int limit = 100) { return store().standing(filter, limit); }
};

TEST_F(Standing, jobs_are_found_wherever_they_are_and_ended_ones_are_not) {
    std::vector<JobId> alive = enqueue(3);
    (void)claim(1);
    alive.push_back(paused());
    alive.push_back(enqueue_one(later()));
    const JobId gone = enqueue_one();
    EXPECT_TRUE(store().cancel({gone, "", ""}).done);
    EXPECT_EQ(standing(JobFilter::all()), alive);
    EXPECT_EQ(standing(JobFilter::all(), 2), std::vector<JobId>(alive.begin(), alive.begin() + 2));
}

TEST_F(Standing, jobs_are_found_by_kind_queue_tags_and_time) {
    const JobId plain = enqueue_one();
    const JobId tagged = enqueue_one(job_spec([](auto& spec) { spec.tags = {"mail", "spring"}; }));
    const JobId other = enqueue_one(job_spec([](auto& spec) {
        spec.kind = "test.other";
        spec.queue = "elsewhere";
        spec.due = Duration(1h);
    }));
    const Time now = store().find(plain)->created_at;
    EXPECT_THAT(standing({.kind = "test.other"}), ElementsAre(other));
    EXPECT_THAT(standing({.queue = "elsewhere"}), ElementsAre(other));
    EXPECT_THAT(standing({.kind = "test.job", .queue = "elsewhere"}), IsEmpty());
    EXPECT_THAT(standing({.kind = "never.heard.of"}), IsEmpty());
    EXPECT_THAT(standing({.queue = "never heard of"}), IsEmpty());
    EXPECT_THAT(standing({.tags = {"spring"}}), ElementsAre(tagged));
    EXPECT_THAT(standing({.tags = {"mail", "spring"}}), ElementsAre(tagged));
    EXPECT_THAT(standing({.tags = {"mail", "autumn"}}), IsEmpty());
    EXPECT_THAT(standing({.created_after = now}), ElementsAre(plain, tagged, other));
    EXPECT_THAT(standing({.created_before = now}), IsEmpty());
    EXPECT_THAT(standing({.created_after = now + 1h}), IsEmpty());
}

// In each snapshot a job stands in one place, so that one that moves all the time is found at every look.
TEST_F(Standing, a_job_that_moves_all_the_time_is_found_once_at_every_look) {
    const JobId id = enqueue_one();
    const auto mover = new_store();
    const NodeId owner = register_node();
    std::jthread moving([&](const std::stop_token& stop) {
        for (std::int64_t seq = 1; !stop.stop_requested(); ++seq) {
            const Claimed claimed = claim(*mover, owner, 1);
            if (claimed.jobs.empty()) continue;
            (void)mover->settle({owner, seq, std::vector{settlement(claimed.jobs[0], Verdict::release)}});
        }
    });
    for (int look = 0; look < 300; ++look) ASSERT_THAT(standing(JobFilter::all()), ElementsAre(id)) << look;
}

}  // namespace
}  // namespace pawl::store
