#include "store/pg/connection.hpp"

#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <pawl/errors.hpp>

#include "store/pg/connection_pool.hpp"
#include "store/pg/errors.hpp"
#include "support/database.hpp"

namespace pawl::store::pg {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ConnectionTest : public tests::EmptyDatabaseTest {
protected:
    void SetUp() override {
        EmptyDatabaseTest::SetUp();
        sql("create schema @schema@");
        sql("create table @schema@.note (id bigint primary key, body text)");
    }

    Statement statement(std::string name, std::string_view text) {
        return {std::move(name), with_schema(text, schema())};
    }
    std::int64_t notes() { return sql("select count(*) from @schema@.note").int64(0, 0); }
};

template <class F>
std::optional<StoreError> error_of(F&& f) {
    try {
        f();
    } catch (const StoreError& error) {
        return error;
    }
    return std::nullopt;
}

TEST_F(ConnectionTest, runs_in_autocommit_by_prepared_names) {
    Connection connection{dsn()};
    connection.open();
    const auto insert = statement("insert_note", "insert into @schema@.note values ($1, $2) returning id");
    for (int id = 1; id <= 3; ++id) EXPECT_EQ(connection.run(insert, Params{}.add(id).add("x")).int64(0, 0), id);
    EXPECT_EQ(notes(), 3);
    EXPECT_EQ(connection.run({{}, "select name from pg_catalog.pg_prepared_statements"}).text(0, 0), "insert_note");
}

TEST_F(ConnectionTest, leaves_nothing_in_the_session_behind_a_pooler) {
    Connection connection{dsn(), {.statement_timeout = std::chrono::milliseconds{1234}, .prepare = false}};
    connection.open();
    const auto prepared = statement("named", "select count(*) from pg_catalog.pg_prepared_statements");
    EXPECT_EQ(connection.run(prepared).int64(0, 0), 0);
    EXPECT_EQ(connection.run(prepared).int64(0, 0), 0);
    // Set for the transaction of each statement, and gone with it.
    EXPECT_EQ(connection.run({{}, "select current_setting('statement_timeout')"}).text(0, 0), "1234ms");
    Transaction later{connection};
    EXPECT_EQ(later.run({{}, "select count(*) from pg_catalog.pg_settings where source = 'session'"}).int64(0, 0), 0);
}

TEST_F(ConnectionTest, applies_the_session_settings) {
    Connection connection{dsn(), {.statement_timeout = std::chrono::milliseconds{1234}, .application_name = "shop"}};
    connection.open();
    const auto row = connection.run({{},
                                     "select current_setting('statement_timeout'), current_setting('jit'), "
                                     "current_setting('application_name'), current_setting('search_path')"});
    EXPECT_EQ(row.text(0, 0), "1234ms");
    EXPECT_EQ(row.text(0, 1), "off");
    EXPECT_EQ(row.text(0, 2), "shop");
    EXPECT_EQ(row.text(0, 3), "pg_catalog, pg_temp");
    EXPECT_GE(connection.server_version(), 100000);
}

TEST_F(ConnectionTest, closes_when_the_server_ends_the_session_and_opens_again_when_told) {
    Connection connection{dsn()};
    connection.open();
    const auto count = statement("count_notes", "select count(*) from @schema@.note");
    connection.run(count);
    const int pid = connection.backend_pid();
    kill_backend(pid);

    const auto first = error_of([&] { connection.run(count); });
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->transient());
    EXPECT_TRUE(first->in_doubt());
    EXPECT_FALSE(connection.is_open());

    // Never by itself, however often it is asked.
    for (int i = 0; i < 5; ++i) {
        const auto later = error_of([&] { connection.run(count); });
        ASSERT_TRUE(later);
        EXPECT_EQ(later->code(), ErrorCode::store_unavailable);
        EXPECT_TRUE(later->transient());
    }

    connection.open();
    EXPECT_NE(connection.backend_pid(), pid);
    EXPECT_EQ(connection.run(count).int64(0, 0), 0);
}

TEST_F(ConnectionTest, never_reconnects_within_a_transaction) {
    Connection connection{dsn()};
    connection.open();
    const auto insert = statement("insert_note", "insert into @schema@.note values ($1, 'x')");
    {
        Transaction transaction{connection};
        transaction.run(insert, Params{}.add(1));
        kill_backend(connection.backend_pid());
        for (int id = 2; id < 6; ++id) {
            EXPECT_TRUE(error_of([&] { transaction.run(insert, Params{}.add(id)); })) << id;
        }
        EXPECT_TRUE(error_of([&] { transaction.commit(); }));
    }
    EXPECT_FALSE(connection.is_open());
    EXPECT_EQ(notes(), 0);
    connection.open();
    connection.run(insert, Params{}.add(7));
    EXPECT_EQ(notes(), 1);
}

TEST_F(ConnectionTest, says_that_a_commit_was_lost_in_doubt) {
    Connection connection{dsn()};
    connection.open();
    Transaction transaction{connection};
    transaction.run(statement("insert_note", "insert into @schema@.note values (1, 'x')"));
    kill_backend(connection.backend_pid());
    const auto error = error_of([&] { transaction.commit(); });
    ASSERT_TRUE(error);
    EXPECT_TRUE(error->in_doubt());
}

TEST_F(ConnectionTest, refuses_to_commit_after_a_failed_statement) {
    Connection connection{dsn()};
    connection.open();
    Transaction transaction{connection};
    EXPECT_TRUE(error_of([&] { transaction.run({{}, "select 1 / 0"}); }));
    const auto error = error_of([&] { transaction.commit(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::closed_transaction);
}

TEST_F(ConnectionTest, rolls_back_without_a_commit_and_refuses_use_after_it) {
    Connection connection{dsn()};
    connection.open();
    const auto insert = statement("insert_note", "insert into @schema@.note values ($1, 'x')");
    {
        Transaction transaction{connection};
        transaction.run(insert, Params{}.add(1));
    }
    EXPECT_EQ(notes(), 0);
    Transaction transaction{connection};
    transaction.run(insert, Params{}.add(2));
    transaction.commit();
    EXPECT_TRUE(error_of([&] { transaction.run(insert, Params{}.add(3)); }));
    EXPECT_EQ(notes(), 1);
}

TEST_F(ConnectionTest, classifies_what_the_server_says) {
    struct Case {
        const char* sql;
        const char* sqlstate;
        bool transient;
        ErrorCode code;
    };
    const Case cases[] = {
        {"select 1 / 0", "22012", false, ErrorCode::store_rejected},
        {"select * from missing", "42P01", false, ErrorCode::store_rejected},
        {"selec", "42601", false, ErrorCode::store_rejected},
        {"do $$ begin raise sqlstate '40P01'; end $$", "40P01", true, ErrorCode::store_unavailable},
        {"do $$ begin raise sqlstate '40001'; end $$", "40001", true, ErrorCode::store_unavailable},
        {"do $$ begin raise sqlstate '40003'; end $$", "40003", true, ErrorCode::in_doubt},
        {"do $$ begin raise sqlstate '53100'; end $$", "53100", true, ErrorCode::store_unavailable},
        {"do $$ begin raise sqlstate '55P03'; end $$", "55P03", true, ErrorCode::store_unavailable},
        {"do $$ begin raise sqlstate '42501'; end $$", "42501", false, ErrorCode::store_rejected},
        {"do $$ begin raise sqlstate 'JQ001'; end $$", "JQ001", false, ErrorCode::store_rejected},
        {"select pg_sleep(60)", "57014", true, ErrorCode::store_unavailable},
    };
    Connection connection{dsn(), {.statement_timeout = std::chrono::milliseconds{200}}};
    for (const auto& expected : cases) {
        connection.open();
        const auto error = error_of([&] { connection.run({{}, expected.sql}); });
        ASSERT_TRUE(error) << expected.sql;
        EXPECT_EQ(error->sqlstate(), expected.sqlstate) << expected.sql;
        EXPECT_EQ(error->transient(), expected.transient) << expected.sql;
        EXPECT_EQ(error->code(), expected.code) << expected.sql;
    }
}

TEST_F(ConnectionTest, repeats_a_statement_that_a_conflict_undid) {
    sql("create sequence @schema@.tries");
    Connection connection{dsn()};
    connection.open();
    // The sequence counts on although the conflict rolls the statement back.
    connection.run({{},
                    with_schema(R"sql(
        do $$ begin
            if nextval('@schema@.tries') < 3 then raise sqlstate '40001'; end if;
        end $$)sql",
                                schema())});
    EXPECT_EQ(sql("select last_value from @schema@.tries").int64(0, 0), 3);
}

TEST_F(ConnectionTest, errors_quote_no_rows_and_no_statements) {
    Connection connection{dsn()};
    connection.open();
    const auto insert = statement("insert_note", "insert into @schema@.note values ($1, $2)");
    connection.run(insert, Params{}.add(4711).add("a"));
    const auto error = error_of([&] { connection.run(insert, Params{}.add(4711).add("b")); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->sqlstate(), "23505");
    EXPECT_THAT(error->what(), Not(HasSubstr("4711")));
    EXPECT_THAT(error->what(), HasSubstr("insert_note: duplicate key"));
}

TEST_F(ConnectionTest, carries_arrays_of_odd_strings) {
    Connection connection{dsn()};
    connection.open();
    const std::vector<std::string> odd{"plain", "",        "NULL",    "a,b",         "{x}",    "\"q\"",
                                       "\\",    "\\\\\"{", " blank ", "line\nbreak", "\t\x01", "\xF0\x9F\xA6\x95",
                                       "'"};
    const auto row = connection.run({"echo", "select $1::text[], $2::bigint[], $3::smallint[], $4::jsonb[], $5::int[]"},
                                    Params{}
                                        .add(odd)
                                        .add(std::vector<std::int64_t>{1, -2})
                                        .add(std::vector<std::int16_t>{3})
                                        .add(std::vector<std::string>{R"({"a": "q\"\\"})"})
                                        .add(std::vector<std::int32_t>{}));
    EXPECT_EQ(row.text_array(0, 0), odd);
    EXPECT_EQ(row.int64_array(0, 1), (std::vector<std::int64_t>{1, -2}));
    EXPECT_EQ(row.int64_array(0, 2), (std::vector<std::int64_t>{3}));
    EXPECT_EQ(row.text_array(0, 3), (std::vector<std::string>{R"({"a": "q\"\\"})"}));
    EXPECT_TRUE(row.int64_array(0, 4).empty());
}

TEST_F(ConnectionTest, carries_times_as_microseconds) {
    const Time time{std::chrono::microseconds{1'900'000'000'123'457}};
    const auto row =
        sql("select (extract(epoch from t) * 1000000)::bigint, extract(microseconds from t)::int % 1000 "
            "from (select timestamptz 'epoch' + $1::bigint * interval '1 microsecond') x (t)",
            Params{}.add(time));
    EXPECT_EQ(row.time(0, 0), time);
    EXPECT_EQ(row.int32(0, 1), 457);
}

TEST_F(ConnectionTest, reads_what_is_not_there_as_such) {
    const auto row = sql("select null::text, 5, true");
    EXPECT_FALSE(row.optional_text(0, 0));
    EXPECT_EQ(row.optional_int64(0, 1), 5);
    EXPECT_EQ(row.optional_boolean(0, 2), true);
    EXPECT_THROW(static_cast<void>(row.text(0, 0)), StoreError);
    EXPECT_THROW(static_cast<void>(row.boolean(0, 1)), StoreError);
}

TEST_F(ConnectionTest, refuses_a_server_that_only_reads) {
    Connection connection{dsn() + " options='-c default_transaction_read_only=on'"};
    const auto error = error_of([&] { connection.open(); });
    ASSERT_TRUE(error);
    EXPECT_TRUE(error->transient());
    EXPECT_THAT(error->what(), HasSubstr("target_session_attrs=read-write"));
    EXPECT_FALSE(connection.is_open());
}

// B048
TEST_F(ConnectionTest, does_not_show_the_password_when_it_cannot_connect) {
    Connection connection{"postgresql://u:S3cr%5Et%24%40x@127.0.0.1:1/shop"};
    const auto error = error_of([&] { connection.open(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::store_unavailable);
    EXPECT_THAT(error->what(), Not(HasSubstr("S3cr")));
    EXPECT_THAT(error->what(), HasSubstr("127.0.0.1"));
}

class CallerTransactionTest : public ConnectionTest {
protected:
    pqxx::connection caller_{tests::server_dsn()};
    Statement insert() { return statement("insert_note", "insert into @schema@.note values ($1, 'x')"); }
};

TEST_F(CallerTransactionTest, stands_or_falls_with_the_caller) {
    {
        pqxx::work work{caller_};
        CallerTransaction{work}.run(insert(), Params{}.add(1));
    }
    EXPECT_EQ(notes(), 0);
    pqxx::work work{caller_};
    CallerTransaction{work}.run(insert(), Params{}.add(1));
    EXPECT_EQ(notes(), 0);
    work.commit();
    EXPECT_EQ(notes(), 1);
}

TEST_F(CallerTransactionTest, refuses_a_closed_one) {
    for (const bool committed : {true, false}) {
        pqxx::work work{caller_};
        if (committed) {
            work.commit();
        } else {
            work.abort();
        }
        const auto error = error_of([&] { CallerTransaction{work}.run(insert(), Params{}.add(1)); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ErrorCode::closed_transaction);
    }
    EXPECT_EQ(notes(), 0);
}

TEST_F(CallerTransactionTest, ends_with_an_aborted_subtransaction) {
    pqxx::work work{caller_};
    {
        pqxx::subtransaction inner{work, "inner"};
        CallerTransaction{inner}.run(insert(), Params{}.add(1));
        inner.abort();
    }
    CallerTransaction{work}.run(insert(), Params{}.add(2));
    work.commit();
    EXPECT_EQ(sql("select id from @schema@.note").int64(0, 0), 2);
}

TEST_F(CallerTransactionTest, prepares_nothing) {
    pqxx::work work{caller_};
    CallerTransaction{work}.run(insert(), Params{}.add(1));
    EXPECT_EQ(work.exec("select count(*) from pg_prepared_statements")[0][0].as<int>(), 0);
}

TEST_F(ConnectionTest, pool_lends_what_it_has_and_no_more) {
    ConnectionPool pool{dsn(), {}, 2};
    auto first = pool.borrow();
    std::optional second{pool.borrow()};
    const auto error = error_of([&] { static_cast<void>(pool.borrow(std::chrono::milliseconds{1})); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::store_unavailable);
    EXPECT_TRUE(error->transient());

    std::jthread waiter{[&] { EXPECT_TRUE(pool.borrow()->is_open()); }};
    second.reset();
}

TEST_F(ConnectionTest, pool_replaces_what_broke_in_use_or_at_rest) {
    ConnectionPool pool{dsn(), {}, 1};
    const Statement one{"one", "select 1"};
    int pid = 0;
    {
        auto borrowed = pool.borrow();
        pid = borrowed->backend_pid();
        kill_backend(pid);
        EXPECT_TRUE(error_of([&] { borrowed->run(one); }));
    }
    {
        auto borrowed = pool.borrow();
        EXPECT_NE(borrowed->backend_pid(), pid);
        pid = borrowed->backend_pid();
        EXPECT_EQ(borrowed->run(one).int32(0, 0), 1);
    }
    kill_backend(pid);
    auto borrowed = pool.borrow();
    EXPECT_EQ(borrowed->run(one).int32(0, 0), 1);
    EXPECT_NE(borrowed->backend_pid(), pid);
}

TEST_F(ConnectionTest, pool_serves_many_threads) {
    ConnectionPool pool{dsn(), {}, 3};
    const auto insert = statement("insert_note", "insert into @schema@.note values ($1, 'x')");
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < 25; ++i) pool.borrow()->run(insert, Params{}.add(thread * 100 + i));
            });
        }
    }
    EXPECT_EQ(notes(), 200);
}

}  // namespace
}  // namespace pawl::store::pg
