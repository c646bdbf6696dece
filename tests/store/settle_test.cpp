#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <pawl/errors.hpp>

#include "store/pg/pg_store.hpp"
#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using model::Decision;
using model::Settlement;
using model::Verdict;
using pg::Params;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::JobPtr;
using tests::settlement;

class Settling : public tests::StoreTest {
protected:
    JobPtr claimed_one(const model::JobSpec& spec = tests::job_spec()) {
        enqueue_one(spec);
        return claim(1).jobs.at(0);
    }
    std::int64_t claims() { return number("select count(*) from @schema@.claim"); }
    std::int64_t attempts_of(JobId id) {
        return number("select count(*) from @schema@.attempt where id = $1", Params{}.add(id));
    }
    static ErrorRecord an_error() {
        return {.type = "std::runtime_error",
                .message = "it said \"no\" {1,2} \\ ü",
                .causes = {{.type = "inner", .message = "why"}},
                .error_class = ErrorClass::transient,
                .truncated = false};
    }
};

// R19, R20
TEST_F(Settling, moves_each_verdict_to_its_place) {
    struct Row {
        Verdict verdict;
        std::chrono::microseconds delay;
        const char* place;
        State state;
    };
    const std::vector<Row> rows{
        {Verdict::complete, 0s, "done", State::succeeded},
        {Verdict::dead_letter, 0s, "done", State::failed},
        {Verdict::discard, 0s, "done", State::failed},
        {Verdict::cancel, 0s, "done", State::canceled},
        {Verdict::retry_at, 0s, "ready", State::pending},
        {Verdict::retry_at, 1h, "scheduled", State::pending},
        {Verdict::retry_at, -1s, "ready", State::pending},
        {Verdict::retry_at, std::chrono::microseconds::max(), "scheduled", State::pending},
        {Verdict::snooze, 0s, "ready", State::pending},
        {Verdict::snooze, 1us, "scheduled", State::pending},
        {Verdict::release, 0s, "ready", State::pending},
        {Verdict::release, 30s, "scheduled", State::pending},
    };
    for (const Row& row : rows) {
        const JobPtr job = claimed_one();
        const auto name = std::string(to_string(row.verdict)) + " after " + std::to_string(row.delay.count());
        EXPECT_THAT(settle(job, row.verdict, [&](Decision& d) { d.delay = row.delay; }), ElementsAre(true)) << name;
        EXPECT_EQ(place_of(job->slot.id), row.place) << name;
        const auto found = store().find(job->slot.id);
        ASSERT_TRUE(found) << name;
        EXPECT_EQ(found->state, row.state) << name;
        EXPECT_EQ(found->discarded, row.verdict == Verdict::discard) << name;
        EXPECT_EQ(found->attempts, 0) << name;
        EXPECT_EQ(found->finished_at.has_value(), std::string_view(row.place) == "done") << name;
        EXPECT_EQ(attempts_of(job->slot.id), 0) << name;
        sql("delete from @schema@.ready");
        sql("delete from @schema@.job where id = $1 and not exists (select from @schema@.done d where d.id = job.id) "
            "and not exists (select from @schema@.scheduled s where s.first_id = job.id)",
            Params{}.add(job->slot.id));
    }
    EXPECT_EQ(claims(), 0);
}

// R31, T6
TEST_F(Settling, writes_what_became_of_an_ended_job) {
    const JobPtr job = claimed_one();
    Settlement made = settlement(job, Verdict::dead_letter, [](Decision& d) {
        d.counted = true;
        d.reason = Reason::rule_exhausted;
        d.rule = "busy";
        d.detail = "the \"detail\"";
        d.error = an_error();
    });
    made.duration = 1'234'567us;
    made.started_at = Time(std::chrono::sys_days{std::chrono::year{2030} / 5 / 6}) + 7us;
    EXPECT_THAT(settle({made}), ElementsAre(true));
    const auto found = store().find(job->slot.id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->attempts, 1);
    EXPECT_EQ(found->reason, Reason::rule_exhausted);
    EXPECT_EQ(found->duration, 1'234'567us);
    EXPECT_EQ(found->error, an_error());
    EXPECT_FALSE(found->result);
    const auto row = sql(R"sql(
        select token, node, attempt, counted::text, class, type, message, decision, reason, rule,
               (extract(epoch from started_at) * 1000000)::bigint, extract(epoch from duration)::text, causes -> 0 ->> 'message'
        from @schema@.attempt where id = $1)sql",
                         Params{}.add(job->slot.id));
    ASSERT_EQ(row.size(), 1U);
    EXPECT_EQ(row.int64(0, 0), job->slot.token);
    EXPECT_EQ(row.int64(0, 1), node());
    EXPECT_EQ(row.int64(0, 2), 1);
    EXPECT_EQ(row.text(0, 3), "true");
    EXPECT_EQ(row.text(0, 4), "transient");
    EXPECT_EQ(row.text(0, 5), "std::runtime_error");
    EXPECT_EQ(row.text(0, 6), an_error().message);
    EXPECT_EQ(row.text(0, 7), "dead_letter");
    EXPECT_EQ(row.text(0, 8), "rule_exhausted");
    EXPECT_EQ(row.text(0, 9), "busy");
    EXPECT_EQ(row.int64(0, 10), made.started_at->time_since_epoch().count());
    EXPECT_EQ(row.text(0, 11), "1.234567");
    EXPECT_EQ(row.text(0, 12), "why");
    EXPECT_EQ(sql("select detail from @schema@.done").text(0, 0), "the \"detail\"");
}

TEST_F(Settling, keeps_the_result) {
    const JobPtr job = claimed_one();
    settle(job, Verdict::complete, [](Decision& d) { d.result = R"({"a": [1, "x\"y", null]})"; });
    EXPECT_EQ(store().find(job->slot.id)->result, R"({"a": [1, "x\"y", null]})");
    const JobPtr without = claimed_one();
    settle(without, Verdict::complete);
    EXPECT_FALSE(store().find(without->slot.id)->result);
}

TEST_F(Settling, counts_attempts_and_crashes_and_clears_the_suspicion_only_with_a_counted_outcome) {
    struct Row {
        Verdict verdict;
        bool counted;
        bool crashed;
        int attempts;
        int crashes;
        bool in_company;
        int before;
        int losses;
    };
    for (const Row& row : std::vector<Row>{{Verdict::retry_at, true, false, 3, 1, false, 1, 0},
                                           {Verdict::retry_at, true, true, 3, 2, false, 1, 0},
                                           {Verdict::retry_at, false, true, 2, 2, false, 0, 2},
                                           {Verdict::retry_at, false, true, 2, 2, false, 5, 5},
                                           {Verdict::release, false, false, 2, 1, true, 0, 1},
                                           {Verdict::release, false, false, 2, 1, true, 1, 2},
                                           {Verdict::release, false, false, 2, 1, true, 1000, 1000},
                                           {Verdict::snooze, false, false, 2, 1, false, 1, 1},
                                           {Verdict::release, false, false, 2, 1, false, 1, 1}}) {
        const JobId id = enqueue_one();
        sql("update @schema@.ready set attempts = 2, crashes = 1, losses = $1", Params{}.add(row.before));
        const JobPtr before = row.before < 2 ? claim().jobs.at(0) : claim_suspect().jobs.at(0);
        settle(before, row.verdict, [&](Decision& d) {
            d.counted = row.counted;
            d.crashed = row.crashed;
            d.lost_in_company = row.in_company;
        });
        const Claimed again = row.losses < 2 ? claim() : claim_suspect();
        ASSERT_THAT(tests::ids_of(again), ElementsAre(id));
        const auto name = to_string(row.verdict);
        EXPECT_EQ(again.jobs[0]->facts.attempts, row.attempts) << name;
        EXPECT_EQ(again.jobs[0]->facts.crashes, row.crashes) << name;
        EXPECT_EQ(again.jobs[0]->facts.losses, row.losses) << name;
        settle(again.jobs[0], Verdict::complete);
        EXPECT_EQ(store().find(id)->attempts, row.attempts) << name;
    }
}

TEST_F(Settling, keeps_the_turn_of_what_was_not_run_and_nothing_elses) {
    const JobId old = enqueue_one();
    sql("update @schema@.ready set run_at = run_at - interval '1 hour'");
    JobPtr job = claim().jobs.at(0);
    const Time turn = job->run_at;
    settle(job, Verdict::release);
    EXPECT_EQ(store().find(old)->run_at, turn);
    job = claim().jobs.at(0);
    settle(job, Verdict::retry_at);
    EXPECT_GT(store().find(old)->run_at.value(), turn + 59min);
}

TEST_F(Settling, takes_queue_and_priority_along) {
    const JobPtr job = claimed_one();
    settle(job, Verdict::retry_at, [](Decision& d) {
        d.queue = "slow lane";
        d.priority = Priority::lowest;
        d.delay = 1h;
    });
    auto found = store().find(job->slot.id);
    EXPECT_EQ(found->queue, "slow lane");
    EXPECT_EQ(found->priority, Priority::lowest);
    sql("update @schema@.scheduled set run_at = now()");
    store().promote(10);
    EXPECT_THAT(claim().jobs, IsEmpty());
    const std::vector<QueueRoom> rooms{{queue_id("slow lane"), 1}};
    const std::vector<int> kinds{kind_id()};
    const Claimed again = store().claim({node(), rooms, {}, kinds});
    ASSERT_THAT(again.jobs, SizeIs(1));
    EXPECT_EQ(again.jobs[0]->queue, "slow lane");
    EXPECT_EQ(again.jobs[0]->facts.priority, Priority::lowest);
}

TEST_F(Settling, keeps_the_claim_while_it_holds_jobs_and_deletes_it_with_the_last) {
    enqueue(5);
    const Claimed claimed = claim();
    ASSERT_THAT(claimed.jobs, SizeIs(5));
    settle({settlement(claimed.jobs[1], Verdict::complete), settlement(claimed.jobs[4], Verdict::snooze)});
    EXPECT_EQ(claims(), 1);
    EXPECT_EQ(sql("select substr(settled::text, 1, 6) from @schema@.claim").text(0, 0), "010011");
    settle({settlement(claimed.jobs[0], Verdict::complete), settlement(claimed.jobs[3], Verdict::complete)});
    EXPECT_EQ(sql("select substr(settled::text, 1, 6) from @schema@.claim").text(0, 0), "110111");
    EXPECT_EQ(place_of(claimed.jobs[2]->slot.id), "claim");
    settle(claimed.jobs[2], Verdict::complete);
    EXPECT_EQ(claims(), 0);
}

TEST_F(Settling, takes_full_claims_and_several_of_them_at_once) {
    enqueue(300);
    std::vector<Settlement> settlements;
    for (;;) {
        const Claimed claimed = claim(128);
        if (claimed.jobs.empty()) break;
        for (const auto& job : claimed.jobs) settlements.push_back(settlement(job, Verdict::complete));
    }
    ASSERT_THAT(settlements, SizeIs(300));
    EXPECT_EQ(claims(), 3);
    EXPECT_THAT(settle(settlements), Each(true));
    EXPECT_EQ(claims(), 0);
    EXPECT_EQ(store().counts(std::nullopt).succeeded, 300);
}

TEST_F(Settling, of_nothing_is_nothing) { EXPECT_THAT(settle(std::vector<Settlement>{}), IsEmpty()); }

// B069, B079: by token, position and id., T4
TEST_F(Settling, refuses_whoever_does_not_hold_the_job) {
    enqueue(3);
    const Claimed claimed = claim();
    const JobPtr job = claimed.jobs[1];
    const auto altered = [&](const std::function<void(model::ClaimSlot&)>& change) {
        auto copy = std::make_shared<model::ClaimedJob>(*job);
        change(copy->slot);
        return JobPtr(copy);
    };
    const std::vector<JobPtr> wrong{
        altered([](auto& slot) { slot.token += 1; }),    altered([](auto& slot) { slot.token -= 1; }),
        altered([](auto& slot) { slot.position += 1; }), altered([](auto& slot) { slot.position = 100; }),
        altered([](auto& slot) { slot.id += 1; }),       altered([](auto& slot) { slot.id = 999'999'999; }),
    };
    for (const JobPtr& other : wrong) {
        for (const Verdict verdict : {Verdict::complete, Verdict::retry_at, Verdict::dead_letter}) {
            EXPECT_THAT(settle(other, verdict,
                               [](Decision& d) {
                                   d.error = an_error();
                                   d.counted = true;
                               }),
                        ElementsAre(false));
        }
    }
    EXPECT_EQ(place_of(job->slot.id), "claim");
    EXPECT_EQ(number("select count(*) from @schema@.done"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.ready"), 0);
    EXPECT_THAT(settle(job, Verdict::complete), ElementsAre(true));
}

TEST_F(Settling, accepts_one_outcome_and_calls_every_later_one_stale) {
    const JobPtr job = claimed_one();
    EXPECT_THAT(settle(job, Verdict::dead_letter), ElementsAre(true));
    EXPECT_THAT(settle(job, Verdict::complete), ElementsAre(false));
    EXPECT_THAT(settle(job, Verdict::retry_at, [](Decision& d) { d.error = an_error(); }), ElementsAre(false));
    EXPECT_EQ(store().find(job->slot.id)->state, State::failed);
    EXPECT_EQ(attempts_of(job->slot.id), 0);
}

// B079: the attempt that stalled comes last, under the token of a claim that is gone.
TEST_F(Settling, refuses_an_older_attempt_that_ends_after_a_newer_one) {
    const JobPtr old = claimed_one();
    settle(old, Verdict::retry_at, [](Decision& d) { d.counted = true; });
    const JobPtr newer = claim().jobs.at(0);
    EXPECT_THAT(settle(old, Verdict::retry_at), ElementsAre(false));
    EXPECT_EQ(place_of(old->slot.id), "claim");
    settle(newer, Verdict::dead_letter, [](Decision& d) { d.counted = true; });
    EXPECT_THAT(settle(old, Verdict::retry_at), ElementsAre(false));
    EXPECT_EQ(store().find(old->slot.id)->state, State::failed);
    EXPECT_EQ(store().find(old->slot.id)->attempts, 2);
    EXPECT_THAT(claim().jobs, IsEmpty());
}

TEST_F(Settling, applies_the_good_ones_of_a_batch_beside_stale_ones) {
    enqueue(4);
    const Claimed claimed = claim();
    settle({settlement(claimed.jobs[0], Verdict::complete), settlement(claimed.jobs[2], Verdict::complete)});
    std::vector<Settlement> all;
    for (const auto& job : claimed.jobs) all.push_back(settlement(job, Verdict::dead_letter));
    EXPECT_THAT(settle(all), ElementsAre(false, true, false, true));
    EXPECT_EQ(store().counts(std::nullopt).succeeded, 2);
    EXPECT_EQ(store().counts(std::nullopt).failed, 2);
}

// A job that was given back and claimed again by the same node may be in one batch under both tokens.
TEST_F(Settling, tells_two_claims_of_one_job_in_one_batch_apart) {
    const JobPtr old = claimed_one();
    const std::vector<ClaimToken> tokens{old->slot.token};
    ASSERT_EQ(store().release_claims(node(), tokens), 1);
    const JobPtr present = claim().jobs.at(0);
    ASSERT_EQ(present->slot.id, old->slot.id);
    const std::vector<Settlement> batch{settlement(old, Verdict::dead_letter), settlement(present, Verdict::complete)};
    EXPECT_THAT(settle(batch), ElementsAre(false, true));
    EXPECT_EQ(store().find(old->slot.id)->state, State::succeeded);
    // Sent again, the mark says the same.
    EXPECT_THAT(store().settle({node(), last_seq(), batch}).applied, ElementsAre(false, true));
}

// Two runs of one slot can end; one of them is accepted, and the others of the batch do not suffer.
TEST_F(Settling, accepts_one_of_two_outcomes_for_the_same_slot) {
    enqueue(2);
    const Claimed claimed = claim();
    EXPECT_THAT(
        settle({settlement(claimed.jobs[0], Verdict::complete), settlement(claimed.jobs[0], Verdict::dead_letter),
                settlement(claimed.jobs[1], Verdict::complete)}),
        ElementsAre(true, false, true));
    EXPECT_EQ(store().find(claimed.jobs[0]->slot.id)->state, State::succeeded);
}

TEST_F(Settling, sent_again_gives_the_same_answer_and_writes_nothing_twice) {
    enqueue(3);
    const Claimed claimed = claim();
    settle(claimed.jobs[0], Verdict::complete);
    std::vector<Settlement> batch;
    for (const auto& job : claimed.jobs) {
        batch.push_back(settlement(job, Verdict::retry_at, [](Decision& d) {
            d.error = an_error();
            d.counted = true;
        }));
    }
    EXPECT_THAT(settle(batch), ElementsAre(false, true, true));
    for (int times = 0; times < 3; ++times) {
        EXPECT_THAT(store().settle({node(), last_seq(), batch}).applied, ElementsAre(false, true, true));
    }
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 2);
    // By a new connection as well: that is when it happens.
    EXPECT_THAT(new_store()->settle({node(), last_seq(), batch}).applied, ElementsAre(false, true, true));
    // Even when the jobs went on meanwhile.
    const Claimed again = claim();
    ASSERT_THAT(again.jobs, SizeIs(2));
    EXPECT_THAT(new_store()->settle({node(), last_seq(), batch}).applied, ElementsAre(false, true, true));
    EXPECT_EQ(place_of(again.jobs[0]->slot.id), "claim");
}

class SettlingInDoubt : public Settling, public ::testing::WithParamInterface<bool> {
protected:
    /// Makes the commit of a settle wait while the test holds the lock, and the first one fail when told so.
    void hold_commits(bool fail) {
        sql("create sequence @schema@.commits");
        sql(std::string(R"sql(
            create function @schema@.hold() returns trigger language plpgsql as $$
            begin
                perform pg_advisory_xact_lock(hashtext('@schema@ hold'));
                )sql") +
            (fail ? "if nextval('@schema@.commits') = 1 then raise exception 'undone'; end if;" : "") + R"sql(
                return null;
            end $$)sql");
        sql("create constraint trigger hold after insert on @schema@.settled "
            "deferrable initially deferred for each row execute function @schema@.hold()");
        sql("select pg_advisory_lock(hashtext('@schema@ hold'))");
    }
    void release_commits() { sql("select pg_advisory_unlock(hashtext('@schema@ hold'))"); }
    bool waiting(int sessions) {
        return tests::eventually([&] {
            return number(
                       "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and "
                       "application_name = 'pawl settle' and datname = current_database()") >= sessions;
        });
    }
};

// The first one took everything out of the claim, or left something in it: the second waits at another row each time.
TEST_P(SettlingInDoubt, sent_again_while_the_first_is_uncommitted_waits_and_then_agrees) {
    enqueue(3);
    const Claimed claimed = claim();
    std::vector<Settlement> batch;
    const std::size_t count = GetParam() ? 3 : 2;
    for (std::size_t i = 0; i < count; ++i) batch.push_back(settlement(claimed.jobs[i], Verdict::complete));
    hold_commits(false);
    const auto first_store = new_store();
    const auto second_store = new_store();
    auto first = std::async(std::launch::async, [&] { return first_store->settle({node(), 77, batch}).applied; });
    ASSERT_TRUE(waiting(1));
    auto second = std::async(std::launch::async, [&] { return second_store->settle({node(), 77, batch}).applied; });
    EXPECT_TRUE(waiting(2));
    release_commits();
    EXPECT_THAT(first.get(), Each(true));
    EXPECT_THAT(second.get(), Each(true));
    EXPECT_EQ(store().counts(std::nullopt).succeeded, static_cast<std::int64_t>(count));
}

TEST_P(SettlingInDoubt, sent_again_applies_when_the_first_one_comes_to_nothing) {
    enqueue(3);
    const Claimed claimed = claim();
    std::vector<Settlement> batch;
    for (std::size_t i = 0; i < (GetParam() ? 3U : 2U); ++i)
        batch.push_back(settlement(claimed.jobs[i], Verdict::complete));
    hold_commits(true);
    const auto first_store = new_store();
    const auto second_store = new_store();
    auto first = std::async(std::launch::async, [&] { return first_store->settle({node(), 77, batch}).applied; });
    ASSERT_TRUE(waiting(1));
    auto second = std::async(std::launch::async, [&] { return second_store->settle({node(), 77, batch}).applied; });
    EXPECT_TRUE(waiting(2));
    release_commits();
    EXPECT_THROW((void)first.get(), StoreError);
    EXPECT_THAT(second.get(), Each(true));
}

INSTANTIATE_TEST_SUITE_P(whole_claim, SettlingInDoubt, ::testing::Bool());

TEST_F(Settling, refuses_a_result_that_postgresql_cannot_store_for_good) {
    const JobPtr job = claimed_one();
    for (const char* result : {R"("\u0000")", R"("\ud83d")", "{not json", "1e999999"}) {
        try {
            settle(job, Verdict::complete, [&](Decision& d) { d.result = result; });
            ADD_FAILURE() << result;
        } catch (const StoreError& error) {
            EXPECT_EQ(error.code(), ErrorCode::store_rejected) << error.what();
            EXPECT_FALSE(error.transient());
        }
        EXPECT_EQ(place_of(job->slot.id), "claim");
    }
    // Nothing of it stays: the same number serves for what can be stored.
    EXPECT_THAT(store().settle({node(), last_seq(), std::vector{settlement(job, Verdict::complete)}}).applied,
                ElementsAre(true));
}

TEST_F(Settling, takes_a_claim_that_a_node_still_answers_for_after_it_was_declared_dead) {
    const JobPtr job = claimed_one();
    sql("update @schema@.node set state = 'dead'");
    // Until somebody takes the claim over, its outcome is as good as any.
    EXPECT_THAT(settle(job, Verdict::complete), ElementsAre(true));
}

}  // namespace
}  // namespace pawl::store
