#include <future>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using model::Verdict;
using pg::Params;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using tests::ids_of;
using tests::JobPtr;
using tests::settlement;

class Nodes : public tests::StoreTest {
protected:
    std::string state_of(NodeId id) {
        return sql("select state from @schema@.node where id = $1", Params{}.add(id)).string(0, 0);
    }
    Rescued rescue(NodeId by, int limit = 100, bool may_expire = true) {
        return store().rescue({.node = by, .limit = limit, .may_expire = may_expire});
    }
    static std::vector<ClaimToken> tokens_of(const Pulse& pulse) {
        std::vector<ClaimToken> tokens;
        for (const OwnClaim& claim : pulse.claims) tokens.push_back(claim.token);
        return tokens;
    }
    std::int64_t claims_of(NodeId id) {
        return number("select count(*) from @schema@.claim where node = $1", Params{}.add(id));
    }
};

TEST_F(Nodes, register_as_somebody_new_each_time) {
    // B072: the same name, host and process: two identities.
    const NodeId first = register_node();
    const NodeId second = register_node();
    EXPECT_NE(first, second);
    EXPECT_EQ(state_of(first), "alive");
    EXPECT_EQ(number("select count(*) from @schema@.node where heartbeat_at > clock_timestamp() - interval '1 minute' "
                     "and release <> '' and expiry = interval '5 minutes'"),
              3);
}

TEST_F(Nodes, heartbeat_renews_and_tells_what_the_node_holds) {
    EXPECT_TRUE(store().heartbeat({.node = node(), .settled_upto = 0}).alive);
    EXPECT_THAT(store().heartbeat({.node = node(), .settled_upto = 0}).claims, IsEmpty());
    enqueue(3);
    const ClaimToken one = claim(1).jobs.at(0)->slot.token;
    const ClaimToken two = claim(1).jobs.at(0)->slot.token;
    sql("update @schema@.claim set lost_by = 1 where id = $1", Params{}.add(two));
    const NodeId other = register_node();
    (void)claim(store(), other, 1);
    let_expire(node());
    const Pulse pulse = store().heartbeat({.node = node(), .settled_upto = 0});
    EXPECT_TRUE(pulse.alive);
    ASSERT_THAT(pulse.claims, SizeIs(2));
    EXPECT_THAT(tokens_of(pulse), UnorderedElementsAre(one, two));
    for (const OwnClaim& claim : pulse.claims) EXPECT_EQ(claim.lost, claim.token == two);
    EXPECT_EQ(
        number("select (heartbeat_at > clock_timestamp() - interval '1 minute')::int from @schema@.node where id = $1",
               Params{}.add(node())),
        1);
}

TEST_F(Nodes, heartbeat_forgets_the_marks_that_are_no_longer_needed) {
    for (int i = 0; i < 4; ++i) settle(std::vector<model::Settlement>{});
    (void)store().settle({register_node(), 1, {}});
    (void)store().heartbeat({.node = node(), .settled_upto = 3});
    EXPECT_EQ(number("select count(*) from @schema@.settled where node = $1", Params{}.add(node())), 1);
    EXPECT_EQ(number("select count(*) from @schema@.settled"), 2);
}

TEST_F(Nodes, heartbeat_does_not_bring_back_who_was_declared_dead_or_stopped) {
    const NodeId late = register_node();
    let_expire(late);
    EXPECT_THAT(rescue(node()).expired, ElementsAre(late));
    EXPECT_FALSE(store().heartbeat({.node = late, .settled_upto = 0}).alive);
    EXPECT_EQ(state_of(late), "dead");
    const NodeId stopped = register_node();
    store().say_goodbye(stopped);
    EXPECT_FALSE(store().heartbeat({.node = stopped, .settled_upto = 0}).alive);
    EXPECT_FALSE(store().heartbeat({.node = 987654321, .settled_upto = 0}).alive);
}

TEST_F(Nodes, expire_by_the_clock_of_the_database_alone) {
    const NodeId prompt = register_node(10s);
    const NodeId late = register_node(10s);
    sql("update @schema@.node set heartbeat_at = clock_timestamp() - interval '9 seconds' where id = $1",
        Params{}.add(prompt));
    sql("update @schema@.node set heartbeat_at = clock_timestamp() - interval '11 seconds' where id = $1",
        Params{}.add(late));
    EXPECT_THAT(rescue(node()).expired, ElementsAre(late));
    EXPECT_EQ(state_of(prompt), "alive");
    EXPECT_THAT(rescue(node()).expired, IsEmpty());
}

// Who does not hear the database cannot tell whether others do.
TEST_F(Nodes, expire_nobody_while_that_is_not_allowed) {
    const NodeId late = register_node();
    enqueue_one();
    const ClaimToken token = claim(store(), late).jobs.at(0)->slot.token;
    let_expire(late);
    const Rescued round = rescue(node(), 100, false);
    EXPECT_THAT(round.expired, IsEmpty());
    EXPECT_THAT(round.claims, IsEmpty());
    EXPECT_EQ(state_of(late), "alive");
    EXPECT_THAT(tokens_of(store().heartbeat({.node = late, .settled_upto = 0})), ElementsAre(token));
}

TEST_F(Nodes, forget_that_an_expired_one_slept) {
    const NodeId late = register_node();
    const std::vector<int> queues{queue_id(), 0};
    store().announce_sleep({late, queues, std::nullopt});
    store().announce_sleep({node(), queues, std::nullopt});
    let_expire(late);
    (void)rescue(node());
    EXPECT_EQ(number("select count(*) from @schema@.waiting where node = $1", Params{}.add(late)), 0);
    EXPECT_EQ(number("select count(*) from @schema@.waiting where node = $1", Params{}.add(node())), 2);
}

TEST_F(Nodes, say_goodbye_gives_back_uncounted_what_was_not_settled) {
    const NodeId leaving = register_node();
    const std::vector<JobId> ids = enqueue(5);
    sql("update @schema@.ready set attempts = 2, crashes = 1, losses = 1");
    const Claimed claimed = claim(store(), leaving);
    (void)store().settle({leaving, 1, std::vector{settlement(claimed.jobs[0], Verdict::complete)}});
    const std::vector<int> queues{queue_id()};
    store().announce_sleep({leaving, queues, std::nullopt});
    EXPECT_EQ(store().say_goodbye(leaving), 4);
    EXPECT_EQ(state_of(leaving), "stopped");
    EXPECT_EQ(claims_of(leaving), 0);
    EXPECT_EQ(number("select count(*) from @schema@.waiting"), 0);
    // A settle in doubt may still come: its mark stays until the node is forgotten.
    EXPECT_EQ(number("select count(*) from @schema@.settled where node = $1", Params{}.add(leaving)), 1);
    const Claimed again = claim();
    EXPECT_EQ(ids_of(again), std::vector<JobId>(ids.begin() + 1, ids.end()));
    for (const auto& job : again.jobs) {
        EXPECT_EQ(job->facts.attempts, 2);
        EXPECT_EQ(job->facts.crashes, 1);
        EXPECT_EQ(job->facts.losses, 1);
    }
    EXPECT_EQ(store().say_goodbye(leaving), 0);
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 0);
}

TEST_F(Nodes, say_goodbye_leaves_what_was_taken_over_to_the_next_rescuer) {
    const NodeId lost = register_node();
    const NodeId rescuer = register_node();
    const JobId id = enqueue_one();
    (void)claim(store(), lost);
    let_expire(lost);
    for (int rounds = 0; rounds < 2; ++rounds) (void)rescue(rescuer);  // found expired, then taken over
    EXPECT_EQ(claims_of(rescuer), 1);
    EXPECT_EQ(store().say_goodbye(rescuer), 0);
    const Rescued round = rescue(node());
    EXPECT_EQ(round.released, 0);
    ASSERT_THAT(ids_of(round.claims), ElementsAre(id));
    EXPECT_EQ(round.claims.front().from, lost);
}

TEST_F(Nodes, release_only_their_own_claims) {
    enqueue(4);
    const ClaimToken mine = claim(2).jobs.at(0)->slot.token;
    const NodeId other = register_node();
    const ClaimToken others = claim(store(), other, 1).jobs.at(0)->slot.token;
    const ClaimToken taken_over = claim(1).jobs.at(0)->slot.token;
    sql("update @schema@.claim set lost_by = 1 where id = $1", Params{}.add(taken_over));
    const std::vector<ClaimToken> tokens{mine, others, taken_over, 987654321};
    EXPECT_EQ(store().release_claims(node(), tokens), 2);
    EXPECT_EQ(claims_of(other), 1);
    EXPECT_THAT(tokens_of(store().heartbeat({.node = node(), .settled_upto = 0})), ElementsAre(taken_over));
    EXPECT_EQ(store().release_claims(node(), tokens), 0);
    EXPECT_EQ(store().release_claims(node(), {}), 0);
    EXPECT_EQ(store().counts(std::nullopt).ready, 2);
}

TEST_F(Nodes, load_the_jobs_of_claims_that_they_took_over) {
    const NodeId lost = register_node();
    const std::vector<JobId> ids = enqueue(3);
    const Claimed claimed = claim(store(), lost);
    (void)store().settle({lost, 1, std::vector{settlement(claimed.jobs[1], Verdict::complete)}});
    let_expire(lost);
    std::vector<LostClaim> taken;
    for (int rounds = 0; taken.empty() && rounds < 3; ++rounds) taken = rescue(node()).claims;
    ASSERT_THAT(taken, SizeIs(1));
    const ClaimToken token = taken.front().token;
    const ClaimToken own = (enqueue_one(), claim().jobs.at(0)->slot.token);
    const std::vector<ClaimToken> tokens{token, own, 987654321};
    const std::vector<LostClaim> loaded = store().load_claims(node(), tokens);
    ASSERT_THAT(loaded, SizeIs(1));
    EXPECT_THAT(ids_of(loaded), ElementsAre(ids[0], ids[2]));
    EXPECT_EQ(loaded.front().from, lost);
    EXPECT_EQ(loaded.front().jobs.back().job->slot.position, 2);
    EXPECT_EQ(loaded.front().jobs.back().job->payload, "2");
    EXPECT_THAT(store().load_claims(register_node(), tokens), IsEmpty());
    EXPECT_THAT(
        store().settle({node(), 1, std::vector{settlement(loaded.front().jobs[1].job, Verdict::complete)}}).applied,
        ElementsAre(true));
}

// B084: ownership stands in rows; it does not end with a connection.
TEST_F(Nodes, keep_what_they_hold_when_every_connection_is_lost) {
    const JobId id = enqueue_one();
    const JobPtr job = claim().jobs.at(0);
    renew_store();
    (void)rescue(node());
    const NodeId other = register_node();
    EXPECT_THAT(rescue(other).claims, IsEmpty());
    EXPECT_THAT(claim(store(), other).jobs, IsEmpty());
    EXPECT_EQ(place_of(id), "claim");
    EXPECT_THAT(settle(job, Verdict::complete), ElementsAre(true));
}

class Rescues : public Nodes {
protected:
    /// Rounds until nothing more is found.
    Rescued all_rounds(NodeId by, int limit = 100) {
        Rescued sum;
        for (int rounds = 0; rounds < 50; ++rounds) {
            Rescued one = rescue(by, limit);
            EXPECT_LE(one.claims.size(), static_cast<std::size_t>(limit));
            const bool found = !one.expired.empty() || !one.claims.empty() || one.released > 0;
            sum.released += one.released;
            for (const NodeId id : one.expired) sum.expired.push_back(id);
            for (LostClaim& claim : one.claims) sum.claims.push_back(std::move(claim));
            if (!found) return sum;
        }
        ADD_FAILURE() << "rescue never comes to an end";
        return sum;
    }
};

TEST_F(Rescues, takes_the_claims_of_dead_expired_and_missing_nodes_under_new_tokens) {
    for (const char* how : {"dead", "expired", "missing"}) {
        const NodeId lost = register_node();
        const std::vector<JobId> ids = enqueue(3);
        const Claimed claimed = claim(store(), lost);
        (void)store().settle({lost, 1, std::vector{settlement(claimed.jobs[1], Verdict::complete)}});
        if (std::string_view(how) == "dead") {
            sql("update @schema@.node set state = 'dead' where id = $1", Params{}.add(lost));
        } else if (std::string_view(how) == "expired") {
            let_expire(lost);
        } else {
            sql("delete from @schema@.node where id = $1", Params{}.add(lost));
        }
        const Rescued rescued = all_rounds(node());
        ASSERT_THAT(rescued.claims, SizeIs(1)) << how;
        EXPECT_EQ(rescued.claims[0].from, lost);
        EXPECT_EQ(rescued.released, 0);
        ASSERT_THAT(ids_of(rescued.claims), ElementsAre(ids[0], ids[2])) << how;
        const JobPtr taken = rescued.claims[0].jobs[0].job;
        EXPECT_GT(taken->slot.token, claimed.jobs[0]->slot.token);
        EXPECT_EQ(taken->facts.attempts, 0);
        EXPECT_EQ(taken->payload, "0");
        // The former owner comes too late; the new one decides.
        EXPECT_THAT(store().settle({lost, 2, std::vector{settlement(claimed.jobs[0], Verdict::complete)}}).applied,
                    ElementsAre(false));
        EXPECT_EQ(place_of(ids[0]), "claim");
        EXPECT_THAT(settle({settlement(taken, Verdict::complete),
                            settlement(rescued.claims[0].jobs[1].job, Verdict::complete)}),
                    ElementsAre(true, true));
    }
}

TEST_F(Rescues, gives_back_uncounted_what_a_stopped_node_still_holds) {
    const NodeId stopped = register_node();
    const JobId id = enqueue_one();
    const JobPtr job = claim(store(), stopped).jobs.at(0);
    // A claim that committed after the goodbye.
    sql("update @schema@.node set state = 'stopped' where id = $1", Params{}.add(stopped));
    const Rescued rescued = all_rounds(node());
    EXPECT_EQ(rescued.released, 1);
    EXPECT_THAT(rescued.claims, IsEmpty());
    const Claimed again = claim();
    ASSERT_THAT(ids_of(again), ElementsAre(id));
    EXPECT_EQ(again.jobs[0]->facts.attempts, 0);
    EXPECT_EQ(again.jobs[0]->facts.crashes, 0);
    EXPECT_THAT(settle(job, Verdict::complete), ElementsAre(false));
}

TEST_F(Rescues, leaves_the_living_alone) {
    const NodeId other = register_node();
    enqueue(2);
    (void)claim(1);
    (void)claim(store(), other, 1);
    // Not even itself, however late it is: it would know.
    let_expire(node());
    const Rescued rescued = all_rounds(node());
    EXPECT_THAT(rescued.expired, IsEmpty());
    EXPECT_THAT(rescued.claims, IsEmpty());
}

TEST_F(Rescues, is_not_for_nodes_that_are_not_alive_themselves) {
    const NodeId lost = register_node();
    enqueue_one();
    (void)claim(store(), lost);
    let_expire(lost);
    const NodeId gone = register_node();
    store().say_goodbye(gone);
    for (int rounds = 0; rounds < 2; ++rounds) {
        const Rescued round = rescue(gone);
        EXPECT_THAT(round.expired, IsEmpty());
        EXPECT_THAT(round.claims, IsEmpty());
    }
    EXPECT_EQ(claims_of(lost), 1);
}

TEST_F(Rescues, can_be_rescued_themselves_and_remember_who_lost_the_job_first) {
    const NodeId first = register_node();
    const NodeId second = register_node();
    const JobId id = enqueue_one();
    (void)claim(store(), first);
    let_expire(first);
    const Rescued taken = all_rounds(second);
    ASSERT_THAT(ids_of(taken.claims), ElementsAre(id));
    let_expire(second);
    const Rescued again = all_rounds(node());
    ASSERT_THAT(ids_of(again.claims), ElementsAre(id));
    EXPECT_EQ(again.claims[0].from, first);
    EXPECT_EQ(again.claims[0].jobs[0].job->facts.attempts, 0);
    EXPECT_THAT(
        store().settle({second, 1, std::vector{settlement(taken.claims[0].jobs[0].job, Verdict::complete)}}).applied,
        ElementsAre(false));
    EXPECT_THAT(settle(again.claims[0].jobs[0].job, Verdict::complete), ElementsAre(true));
}

// B065 in small: several queues and kinds, some of them unknown here, and a bound per round.
TEST_F(Rescues, takes_a_bounded_number_at_a_time_until_none_is_left) {
    const NodeId lost = register_node();
    std::size_t total = 0;
    for (int i = 0; i < 10; ++i) {
        const auto name = "q" + std::to_string(i);
        const auto spec = tests::job_spec([&](auto& s) {
            s.queue = name;
            s.kind = "unknown." + std::to_string(i % 3);
        });
        total += enqueue(5, spec).size();
        const std::vector<QueueRoom> rooms{{queue_id(name), 5}};
        const std::vector<int> kinds{kind_id(spec.kind)};
        EXPECT_THAT(store().claim({lost, rooms, {}, kinds}).jobs, SizeIs(5));
    }
    let_expire(lost);
    const Rescued rescued = all_rounds(node(), 3);
    EXPECT_THAT(rescued.claims, SizeIs(10));
    EXPECT_EQ(ids_of(rescued.claims).size(), total);
    EXPECT_EQ(claims_of(lost), 0);
    std::set<std::string> kinds;
    for (const auto& claim : rescued.claims) kinds.insert(claim.jobs.front().job->kind);
    EXPECT_THAT(kinds, SizeIs(3));
}

TEST_F(Rescues, by_two_at_once_never_give_a_claim_to_both) {
    const NodeId lost = register_node();
    enqueue(60);
    std::set<JobId> held;
    for (int i = 0; i < 60; ++i) held.insert(claim(store(), lost, 1).jobs.at(0)->slot.id);
    sql("update @schema@.node set state = 'dead' where id = $1", Params{}.add(lost));
    const std::vector<NodeId> rescuers{register_node(), register_node(), register_node()};
    std::vector<std::future<std::vector<JobId>>> rounds;
    for (const NodeId by : rescuers) {
        rounds.push_back(std::async(std::launch::async, [&, by] {
            const auto own = new_store();
            std::vector<JobId> got;
            for (int empty = 0; empty < 2;) {
                const Rescued round = own->rescue({.node = by, .limit = 4, .may_expire = true});
                if (round.claims.empty()) ++empty;
                for (const JobId id : ids_of(round.claims)) got.push_back(id);
            }
            return got;
        }));
    }
    std::set<JobId> distinct;
    std::size_t all = 0;
    for (auto& round : rounds) {
        const std::vector<JobId> got = round.get();
        all += got.size();
        distinct.insert(got.begin(), got.end());
    }
    EXPECT_EQ(all, 60U);
    EXPECT_EQ(distinct, held);
}

// The settle began first: what it holds locked is left for the next round, and its outcome stands.
TEST_F(Rescues, passes_over_a_claim_that_is_being_settled) {
    const NodeId lost = register_node();
    const JobId id = enqueue_one();
    (void)claim(store(), lost);
    sql("update @schema@.node set state = 'dead' where id = $1", Params{}.add(lost));
    pqxx::connection connection(dsn());
    {
        pqxx::work work(connection);
        work.exec(pg::with_schema("select from @schema@.claim for update", schema()));
        EXPECT_THAT(rescue(node()).claims, IsEmpty());
    }
    EXPECT_THAT(ids_of(rescue(node()).claims), ElementsAre(id));
}

// One bad row never stops the rest.
TEST_F(Rescues, takes_a_claim_whose_job_was_deleted) {
    const NodeId lost = register_node();
    const std::vector<JobId> ids = enqueue(2);
    (void)claim(store(), lost);
    sql("delete from @schema@.job where id = $1", Params{}.add(ids[0]));
    sql("update @schema@.node set state = 'dead' where id = $1", Params{}.add(lost));
    const Rescued rescued = all_rounds(node());
    ASSERT_EQ(ids_of(rescued.claims), ids);
    std::vector<model::Settlement> settlements;
    for (const auto& job : rescued.claims[0].jobs) settlements.push_back(settlement(job.job, Verdict::complete));
    EXPECT_THAT(settle(settlements), ElementsAre(true, true));
    sql("delete from @schema@.done where id = $1", Params{}.add(ids[0]));
}

}  // namespace
}  // namespace pawl::store
