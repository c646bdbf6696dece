#include <set>
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
using ::testing::UnorderedElementsAre;
using tests::job_spec;

struct Fate {
    std::string kind{tests::test_kind};
    std::string queue{"default"};
    std::vector<std::string> tags{};
    Reason reason{Reason::exhausted};
    std::string type{"Broken"};
    std::string message{"it is broken"};
    bool discarded{false};
    int attempts{0};
};

class DeadLetters : public tests::StoreTest {
protected:
    JobId fail(const Fate& fate = {}) {
        const JobId id = enqueue_one(job_spec([&](auto& spec) {
            spec.kind = fate.kind;
            spec.queue = fate.queue;
            spec.tags = fate.tags;
        }));
        sql("update @schema@.ready set attempts = $1", Params{}.add(fate.attempts));
        const std::vector<QueueRoom> rooms{{queue_id(fate.queue), 1}};
        const std::vector<int> kinds{kind_id(fate.kind)};
        const Claimed claimed = store().claim({node(), rooms, {}, kinds});
        (void)settle(claimed.jobs.at(0), fate.discarded ? Verdict::discard : Verdict::dead_letter,
                     [&](model::Decision& decision) {
                         decision.counted = true;
                         decision.reason = fate.reason;
                         decision.rule = "Busy";
                         decision.error = ErrorRecord{.type = fate.type, .message = fate.message};
                     });
        return id;
    }
    std::vector<JobId> ids(const Filter& filter) {
        std::vector<JobId> found;
        for (const DeadLetter& letter : store().dead_letters({filter, 1000, {}}).letters) found.push_back(letter.id);
        return found;
    }
    std::vector<JobId> redrive(const Filter& filter, int limit = 1000) {
        std::vector<JobId> ids;
        for (const Redriven& job :
             store().redrive(RedriveMany{.filter = filter, .limit = limit, .by = "me", .why = "mended"})) {
            EXPECT_EQ(job.kind, store().find(job.id).value().kind);
            EXPECT_EQ(job.queue, store().find(job.id).value().queue);
            ids.push_back(job.id);
        }
        return ids;
    }
};

TEST_F(DeadLetters, show_all_that_a_person_needs) {
    const JobId id = fail({.tags = {"payment"}, .message = "declined"});
    sql("update @schema@.kind set runbook = 'call the bank'");
    const DeadLetterPage page = store().dead_letters({Filter::all(), 10, {}});
    ASSERT_THAT(page.letters, SizeIs(1));
    const DeadLetter& letter = page.letters[0];
    EXPECT_EQ(letter.id, id);
    EXPECT_EQ(letter.kind, tests::test_kind);
    EXPECT_EQ(letter.state, State::failed);
    EXPECT_EQ(letter.attempts, 1);
    EXPECT_EQ(letter.reason, Reason::exhausted);
    EXPECT_EQ(letter.error.value().message, "declined");
    EXPECT_THAT(letter.tags, ElementsAre("payment"));
    EXPECT_TRUE(letter.finished_at);
    EXPECT_EQ(letter.runbook, "call the bank");  // P29
    EXPECT_EQ(page.next, std::nullopt);
}

TEST_F(DeadLetters, are_narrowed_by_each_part_of_a_filter) {  // P15, R21
    const JobId plain = fail();
    const JobId other_kind = fail({.kind = "other.kind"});
    const JobId other_queue = fail({.queue = "mail"});
    const JobId tagged = fail({.tags = {"a", "b"}});
    const JobId typed = fail({.type = "GatewayDown"});
    const JobId reasoned = fail({.reason = Reason::permanent});
    const JobId worded = fail({.message = "100% of _them_ down"});
    const JobId tried = fail({.attempts = 6});
    const JobId discarded = fail({.reason = Reason::discarded, .discarded = true});

    EXPECT_THAT(ids(Filter::all()),
                UnorderedElementsAre(plain, other_kind, other_queue, tagged, typed, reasoned, worded, tried));
    EXPECT_THAT(ids({.kind = "other.kind"}), ElementsAre(other_kind));
    EXPECT_THAT(ids({.kind = "no.such.kind"}), IsEmpty());
    EXPECT_THAT(ids({.queue = "mail"}), ElementsAre(other_queue));
    EXPECT_THAT(ids({.tags = {"a"}}), ElementsAre(tagged));
    EXPECT_THAT(ids({.tags = {"a", "c"}}), IsEmpty());
    EXPECT_THAT(ids({.error_type = "GatewayDown"}), ElementsAre(typed));
    EXPECT_THAT(ids({.reason = Reason::permanent}), ElementsAre(reasoned));
    EXPECT_THAT(ids({.error_contains = "% of _"}), ElementsAre(worded));
    EXPECT_THAT(ids({.error_contains = "%"}), ElementsAre(worded));
    EXPECT_THAT(ids({.error_contains = "' or true --"}), IsEmpty());
    EXPECT_THAT(ids({.attempts_at_least = 7}), ElementsAre(tried));
    EXPECT_THAT(ids({.kind = std::string(tests::test_kind), .attempts_at_most = 6}), SizeIs(6));
    EXPECT_THAT(ids({.reason = Reason::discarded, .discarded = true}), ElementsAre(discarded));
    EXPECT_EQ(store().count_failed({.queue = "mail"}), 1);
    EXPECT_EQ(store().count_failed(Filter::all()), 8);
}

TEST_F(DeadLetters, are_narrowed_by_time) {
    const JobId early = fail();
    const JobId late = fail();
    sql("update @schema@.done set finished_at = timestamptz '2026-01-01 00:00:00+00' where id = $1",
        Params{}.add(early));
    sql("update @schema@.done set finished_at = timestamptz '2026-01-01 00:00:00.000001+00' where id = $1",
        Params{}.add(late));
    const Time noon = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
    EXPECT_THAT(ids({.failed_after = noon}), ElementsAre(late, early));
    EXPECT_THAT(ids({.failed_after = noon + 1us}), ElementsAre(late));
    EXPECT_THAT(ids({.failed_before = noon + 1us}), ElementsAre(early));
    EXPECT_THAT(ids({.created_before = noon}), IsEmpty());
    EXPECT_THAT(ids({.created_after = noon - std::chrono::years(10)}), SizeIs(2));
}

TEST_F(DeadLetters, come_in_pages_that_neither_repeat_nor_skip) {
    std::set<JobId> all;
    for (int i = 0; i < 7; ++i) all.insert(fail());
    // The time alone does not tell them apart.
    sql("update @schema@.done set finished_at = '2026-01-01'");
    std::set<JobId> seen;
    std::optional<model::Cursor> after;
    int pages = 0;
    do {
        const DeadLetterPage page = store().dead_letters({Filter::all(), 3, after});
        ++pages;
        for (const DeadLetter& letter : page.letters) EXPECT_TRUE(seen.insert(letter.id).second);
        after = page.next ? std::optional(model::parse_cursor(*page.next)) : std::nullopt;
    } while (after);
    EXPECT_EQ(seen, all);
    EXPECT_EQ(pages, 3);
}

TEST_F(DeadLetters, are_put_back_as_new_with_their_history) {  // A42
    const JobId id = fail({.attempts = 4});
    sql("update @schema@.done set discarded = false");
    const Acted acted = store().redrive(Redrive{{id, "me", "mended"}, {}, "again", Priority::critical});
    EXPECT_TRUE(acted.done);
    EXPECT_EQ(acted.queue, "default");
    const auto job = store().find(id);
    EXPECT_EQ(job->state, State::pending);
    EXPECT_EQ(job->attempts, 0);
    EXPECT_EQ(job->queue, "again");
    EXPECT_EQ(job->priority, Priority::critical);
    EXPECT_FALSE(job->error);
    const auto attempts = store().attempts(id);
    ASSERT_THAT(attempts, SizeIs(1));
    EXPECT_TRUE(attempts[0].redriven);
    EXPECT_EQ(attempts[0].attempt, 5);
    EXPECT_EQ(attempts[0].record.message, "it is broken");
    EXPECT_EQ(attempts[0].decision, "dead_letter");
    EXPECT_EQ(attempts[0].reason, Reason::exhausted);
    EXPECT_EQ(attempts[0].rule, "Busy");
    const auto acts = store().acts(id);
    ASSERT_THAT(acts, SizeIs(1));
    EXPECT_EQ(acts[0].verb, "redrive");
    EXPECT_EQ(acts[0].by, "me");
    EXPECT_EQ(acts[0].why, "mended");

    const std::vector<QueueRoom> rooms{{queue_id("again"), 1}};
    const std::vector<int> kinds{kind_id()};
    const Claimed claimed = store().claim({node(), rooms, {}, kinds});
    ASSERT_THAT(claimed.jobs, SizeIs(1));
    EXPECT_EQ(claimed.jobs[0]->facts.crashes, 0);
    EXPECT_EQ(claimed.jobs[0]->facts.losses, 0);
    EXPECT_THAT(claimed.jobs[0]->rule_counts, IsEmpty());
}

TEST_F(DeadLetters, wait_as_asked_when_put_back) {
    const JobId id = fail();
    EXPECT_TRUE(store().redrive(Redrive{{id, "", ""}, 1h}).done);
    EXPECT_EQ(place_of(id), "scheduled");
    EXPECT_GT(store().find(id)->run_at.value() - store().find(id)->created_at, 59min);
}

TEST_F(DeadLetters, are_put_back_oldest_first_up_to_the_limit) {
    std::vector<JobId> all;
    for (int i = 0; i < 5; ++i) all.push_back(fail());
    (void)fail({.kind = "other.kind"});
    const Filter filter{.kind = std::string(tests::test_kind)};
    EXPECT_THAT(redrive(filter, 3), ElementsAre(all[0], all[1], all[2]));
    EXPECT_THAT(redrive(filter, 3), ElementsAre(all[3], all[4]));
    EXPECT_THAT(redrive(filter, 3), IsEmpty());
    EXPECT_EQ(store().count_failed(Filter::all()), 1);
    EXPECT_EQ(number("select count(*) from @schema@.act where verb = 'redrive' and why = 'mended'"), 5);
}

TEST_F(DeadLetters, come_back_at_the_rate_that_was_asked_for) {
    for (int i = 0; i < 4; ++i) (void)fail();
    const Filter all = Filter::all();
    EXPECT_THAT(store().redrive(RedriveMany{.filter = all, .limit = 10, .spacing = 500ms}), SizeIs(4));
    EXPECT_EQ(number("select count(*) from @schema@.ready"), 1);
    EXPECT_EQ(number("select (extract(epoch from max(run_at) - min(run_at)) * 1000)::int from @schema@.scheduled"),
              1000);
}

TEST_F(DeadLetters, that_another_is_putting_back_are_passed_over) {
    const JobId first = fail();
    const JobId second = fail();
    store::pg::Transaction other(admin());
    other.run(store::pg::Statement{"", store::pg::with_schema("select from @schema@.done where id = $1 for update",
                                                              schema())},
              Params{}.add(first));
    EXPECT_THAT(redrive(Filter::all(), 1), ElementsAre(second));
}

// Two people see the same incident.
TEST_F(DeadLetters, are_put_back_once_by_two_at_a_time) {
    for (int i = 0; i < 200; ++i) (void)fail();
    const auto other = new_store();
    std::vector<Redriven> theirs;
    const Filter all = Filter::all();
    std::jthread second([&] { theirs = other->redrive(RedriveMany{.filter = all, .limit = 1000}); });
    const std::vector<JobId> ours = redrive(all);
    second.join();
    EXPECT_EQ(ours.size() + theirs.size(), 200U);
    EXPECT_EQ(number("select count(*) from @schema@.ready"), 200);
}

TEST_F(DeadLetters, are_found_by_their_own_index_among_many_ended_jobs) {
    sql("insert into @schema@.done (id, finished_at, state, attempts) "
        "select 1000000 + i, clock_timestamp(), 'succeeded', 0 from generate_series(1, 20000) i");
    sql("insert into @schema@.done (id, finished_at, state, attempts) "
        "select 2000000 + i, clock_timestamp(), 'failed', 0 from generate_series(1, 100) i");
    sql("analyze @schema@.done");
    std::string plan;
    const auto rows =
        sql("explain select id from @schema@.done d where d.state = 'failed' and not d.discarded "
            "order by d.finished_at desc, d.id desc limit 10");
    for (std::size_t row = 0; row < rows.size(); ++row) plan += rows.string(row, 0) + "\n";
    EXPECT_THAT(plan, ::testing::HasSubstr("finished_at_id_idx")) << plan;
    sql("delete from @schema@.done");
}

}  // namespace
}  // namespace pawl::store
