#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using model::Verdict;
using pg::Params;
using ::testing::Gt;

/// Looks at what the server counts per table and index while the verbs run, so that it is the prepared statement with
/// its settings and its plan that is judged, not a copy of it.
class Plans : public tests::StoreTest, public ::testing::WithParamInterface<int> {
protected:
    /// A session tells its numbers to the server at the latest when it ends.
    void settle_the_numbers() {
        renew_store();
        EXPECT_TRUE(tests::eventually([&] {
            return number(
                       "select count(*) from pg_stat_activity where application_name like 'pawl%' "
                       "and application_name <> 'pawl test' and datname = current_database()") == 0;
        }));
    }
    std::int64_t rows_read_whole(std::string_view table) {
        return number(
            "select coalesce(sum(seq_tup_read), 0)::bigint from pg_stat_user_tables "
            "where schemaname = $1 and (relname = $2 or relname ~ ('^' || $2 || '_([0-9]+|default)$'))",
            Params{}.add(schema()).add(table));
    }
    std::int64_t scans(std::string_view index) {
        return number(
            "select coalesce(sum(idx_scan), 0)::bigint from pg_stat_user_indexes "
            "where schemaname = $1 and indexrelname ~ ('^' || $2 || '$')",
            Params{}.add(schema()).add(index));
    }
    /// As many rows in every table that the verbs touch, beside those that they are asked for.
    void fill(int rows) {
        if (rows == 0) return;
        (void)queue_id("other");
        sql(R"sql(
            insert into @schema@.job (id, created_at, kind, queue, priority, payload_version, payload)
            select i, now(), 1, 2, 2, 0, '{}' from generate_series(50000001, 50000000 + 3 * $1::int) i)sql",
            Params{}.add(rows));
        sql("insert into @schema@.ready (first_id, run_at, queue, kind, priority) "
            "select i, now(), 2, 1, 2 from generate_series(50000001, 50000000 + $1::int) i",
            Params{}.add(rows));
        sql("insert into @schema@.scheduled (first_id, run_at, queue, kind, priority) "
            "select i, now() + interval '1 day', 2, 1, 2 from generate_series(50000001 + $1::int, 50000000 + 2 * "
            "$1::int) i",
            Params{}.add(rows));
        sql("insert into @schema@.done (id, finished_at, state, attempts) "
            "select i, now(), 'succeeded', 0 from generate_series(50000001 + 2 * $1::int, 50000000 + 3 * $1::int) i",
            Params{}.add(rows));
    }
};

TEST_P(Plans, go_by_their_indexes_whether_the_tables_are_empty_or_full) {
    // Prepared while the tables are empty, used when they are not: the plan has to fit both.
    enqueue_one();
    settle(claim().jobs.at(0), Verdict::complete);
    (void)store().promote(100);
    (void)store().find(100);
    fill(GetParam());
    sql("select pg_stat_reset_single_table_counters(c.oid) from pg_class c join pg_namespace n on n.oid = "
        "c.relnamespace "
        "where n.nspname = $1 and c.relkind in ('r', 'i')",
        Params{}.add(schema()));
    for (int rounds = 0; rounds < 5; ++rounds) {
        const std::vector<JobId> ids = enqueue(10);
        const Claimed claimed = claim(8);
        ASSERT_EQ(claimed.jobs.size(), 8U);
        std::vector<model::Settlement> settlements;
        for (const auto& job : claimed.jobs) settlements.push_back(tests::settlement(job, Verdict::complete));
        settlements.back().decision.verdict = Verdict::retry_at;
        settlements.back().decision.delay = 1h;
        settlements.front().decision.error = ErrorRecord{};
        settle(settlements);
        for (const JobId id : ids) EXPECT_TRUE(store().find(id));
        (void)store().promote(100);
    }
    settle_the_numbers();
    for (const char* table : {"ready", "scheduled", "job", "done", "attempt"}) {
        EXPECT_EQ(rows_read_whole(table), 0) << table;
    }
    for (const char* index :
         {"ready_claim", "ready_id", "scheduled_due", "scheduled_id", "claim_pkey", "job_0_pkey", "done_0_pkey"}) {
        EXPECT_THAT(scans(index), Gt(0)) << index;
    }
}

INSTANTIATE_TEST_SUITE_P(rows, Plans, ::testing::Values(0, 20'000));

}  // namespace
}  // namespace pawl::store
