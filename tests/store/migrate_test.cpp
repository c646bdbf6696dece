#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/errors.hpp>

#include "store/pg/migrator.hpp"
#include "support/database.hpp"

namespace pawl::store::pg {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr Migration steps[] = {
    {1, "first", "create table @schema@.a (id int); insert into @schema@.a values (1);"},
    {2, "second", "alter table @schema@.a add b text;"},
    {3, "third", "create index on @schema@.a (b);"},
};
constexpr std::span<const Migration> all{steps};

class Migrate : public tests::EmptyDatabaseTest {
protected:
    int run(std::span<const Migration> migrations, std::chrono::milliseconds lock_wait = 30s) {
        return migrate(admin(), schema(), {.lock_wait = lock_wait, .migrations = migrations});
    }
    std::string shape() {
        return sql("select string_agg(format('%s.%s %s', c.relname, a.attname, a.atttypid::regtype), ',' "
                   "order by c.relname, a.attnum) from pg_class c join pg_attribute a on a.attrelid = c.oid "
                   "where c.relnamespace = to_regnamespace($1) and a.attnum > 0",
                   Params{}.add(quote_identifier(schema())))
            .string(0, 0);
    }
    StoreError mismatch(std::span<const Migration> migrations) {
        try {
            check_schema(admin(), schema(), migrations);
        } catch (const StoreError& error) {
            EXPECT_EQ(error.code(), ErrorCode::schema_mismatch);
            return error;
        }
        ADD_FAILURE() << "the schema was accepted";
        return StoreError{ErrorCode::internal, ""};
    }
};

// B181
TEST_F(Migrate, applies_exactly_the_missing_steps_from_each_version) {
    EXPECT_EQ(run(all), 3);
    const auto fresh = shape();
    EXPECT_EQ(run(all), 0);
    for (std::size_t from = 1; from <= all.size(); ++from) {
        sql("drop schema @schema@ cascade");
        EXPECT_EQ(run(all.first(from)), static_cast<int>(from));
        EXPECT_EQ(run(all), static_cast<int>(all.size() - from));
        EXPECT_EQ(run(all), 0);
        EXPECT_EQ(shape(), fresh);
        EXPECT_EQ(sql("select count(*) from @schema@.a").int64(0, 0), 1);
    }
}

TEST_F(Migrate, ten_processes_that_start_at_once_apply_each_step_once) {
    std::atomic<int> taken{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 10; ++i) {
            threads.emplace_back([&] {
                Connection connection{dsn()};
                connection.open();
                taken += migrate(connection, schema(), {.migrations = all});
            });
        }
    }
    EXPECT_EQ(taken, 3);
    EXPECT_EQ(sql("select count(*) from @schema@.schema_version").int64(0, 0), 3);
    EXPECT_EQ(sql("select count(*) from @schema@.a").int64(0, 0), 1);
}

// B183
TEST_F(Migrate, works_for_a_role_that_may_not_create_schemas_in_one_made_for_it) {
    const auto role = quote_identifier(schema());
    sql("create role " + role + " login");
    sql("create schema @schema@ authorization " + role);
    const auto outcome = [&] {
        // As that role, whatever way the server authenticates.
        Connection connection{dsn() + " options='-c role=" + schema() + "'"};
        connection.open();
        return migrate(connection, schema(), {.migrations = all});
    }();
    EXPECT_EQ(outcome, 3);
    sql("drop schema @schema@ cascade");
    sql("drop role " + role);
}

TEST_F(Migrate, says_what_to_do_when_the_schema_is_missing_and_may_not_be_created) {
    const auto role = quote_identifier(schema());
    sql("create role " + role + " login");
    try {
        Connection connection{dsn() + " options='-c role=" + schema() + "'"};
        connection.open();
        migrate(connection, schema(), {.migrations = all});
        ADD_FAILURE() << "migrated without the right";
    } catch (const StoreError& error) {
        EXPECT_EQ(error.sqlstate(), "42501");
        EXPECT_THAT(error.what(), HasSubstr("create schema"));
    }
    sql("drop role " + role);
}

// B186
TEST_F(Migrate, waits_no_longer_than_told_and_names_the_holder) {
    Connection other{dsn()};
    other.open();
    Transaction holder{other};
    holder.run({{}, "select pg_advisory_xact_lock(hashtext('pawl.migrate'), hashtext($1))"}, Params{}.add(schema()));
    const auto before = std::chrono::steady_clock::now();
    try {
        run(all, 100ms);
        FAIL() << "migrated without the lock";
    } catch (const StoreError& error) {
        EXPECT_EQ(error.code(), ErrorCode::store_unavailable);
        EXPECT_THAT(error.what(), HasSubstr("pid " + std::to_string(other.backend_pid())));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
}

TEST_F(Migrate, gives_up_a_table_lock_in_time_and_succeeds_when_it_is_free) {
    run(all.first(1));
    Connection other{dsn()};
    other.open();
    {
        Transaction reader{other};
        reader.run({{}, with_schema("select * from @schema@.a", schema())});
        EXPECT_THROW(run(all, 100ms), StoreError);
    }
    EXPECT_EQ(run(all), 2);
}

TEST_F(Migrate, rolls_a_failing_step_back_and_names_it) {
    const Migration broken[] = {steps[0], {2, "broken", "create table @schema@.half (id int); select 1 / 0;"}};
    try {
        run(broken);
        FAIL() << "a failing step went through";
    } catch (const StoreError& error) {
        EXPECT_THAT(error.what(), HasSubstr("migration 2 (broken)"));
        EXPECT_EQ(error.sqlstate(), "22012");
    }
    EXPECT_EQ(sql("select max(version) from @schema@.schema_version").int64(0, 0), 1);
    EXPECT_TRUE(sql("select to_regclass('@schema@.half') is null").boolean(0, 0));
    EXPECT_EQ(run(all), 2);
}

TEST_F(Migrate, refuses_the_schema_of_a_newer_release) {
    run(all);
    try {
        run(all.first(2));
        FAIL() << "a newer schema was accepted";
    } catch (const StoreError& error) {
        EXPECT_EQ(error.code(), ErrorCode::schema_mismatch);
        EXPECT_THAT(error.what(), HasSubstr("version 3"));
    }
}

TEST_F(Migrate, check_says_what_to_do_about_a_missing_older_or_newer_schema) {
    EXPECT_THAT(mismatch(all).what(), HasSubstr("does not exist: call pawl::migrate"));
    sql("create schema @schema@");
    EXPECT_THAT(mismatch(all).what(), HasSubstr("holds no tables"));
    run(all.first(2));
    EXPECT_THAT(mismatch(all).what(), HasSubstr("is at version 2, and this release works with version 3"));
    run(all);
    EXPECT_NO_THROW(check_schema(admin(), schema(), all));
    EXPECT_THAT(mismatch(all.first(2)).what(), HasSubstr("deploy the newer release"));
}

TEST_F(Migrate, takes_any_schema_name_several_in_one_database) {
    const std::string names[] = {schema() + " \"quoted\".Name", schema() + "'s \\ \xF0\x9F\xA6\x95"};
    for (const auto& name : names) {
        EXPECT_EQ(migrate(admin(), name), static_cast<int>(known_migrations().size()));
        EXPECT_NO_THROW(check_schema(admin(), name));
        admin().run({{}, with_schema("drop schema @schema@ cascade", name)});
    }
}

}  // namespace
}  // namespace pawl::store::pg
