#include <algorithm>
#include <future>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <pawl/backoff.hpp>
#include <pawl/errors.hpp>

#include "model/backoff_text.hpp"
#include "store/pg/listener.hpp"
#include "store/pg/pg_store.hpp"
#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using pg::Params;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using tests::job_spec;

const std::vector<std::string> one_payload{R"({"n":1})"};

/// The code of the StoreError that it throws; none when it throws nothing.
template <class F>
std::optional<ErrorCode> code_of(F&& f) {
    try {
        f();
    } catch (const StoreError& error) {
        return error.code();
    }
    return std::nullopt;
}

class Enqueue : public tests::StoreTest {
protected:
    std::int64_t stored() { return number("select count(*) from @schema@.job"); }
    std::string channel() { return sql("select @schema@.channel()").string(0, 0); }
    std::string quoted(std::string_view text) { return pg::with_schema(text, schema()); }

    /// What arrives on the channel until the mark that the test itself sends behind it.
    std::vector<std::string> heard(pg::Listener& listener) {
        sql("select pg_notify(@schema@.channel(), 'mark')");
        std::vector<std::string> payloads;
        for (int rounds = 0; rounds < 100; ++rounds) {
            for (const auto& notification : listener.wait(std::chrono::milliseconds(200))) {
                if (notification.payload == "mark") return payloads;
                payloads.push_back(notification.payload);
            }
        }
        ADD_FAILURE() << "the mark never came";
        return payloads;
    }
};

class EnqueueMany : public Enqueue, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(EnqueueMany, gives_ids_in_order_in_blocks_of_a_hundred_without_gaps_inside) {
    const std::size_t count = GetParam();
    const std::vector<JobId> ids = enqueue(count);
    ASSERT_THAT(ids, SizeIs(count));
    for (std::size_t i = 1; i < ids.size(); ++i) {
        if (i % 100 == 0) {
            EXPECT_GT(ids[i], ids[i - 1]);
            EXPECT_EQ(ids[i] % 100, 0);
        } else {
            ASSERT_EQ(ids[i], ids[i - 1] + 1);
        }
    }
    EXPECT_EQ(number("select count(*) from @schema@.ready"), static_cast<std::int64_t>((count + 99) / 100));
    // Each payload under the id that was returned for it.
    EXPECT_EQ(number("select count(*) from unnest($1::bigint[]) with ordinality g (id, place) "
                     "join @schema@.job j on j.id = g.id and j.payload = to_jsonb(g.place - 1)",
                     Params{}.add(ids)),
              static_cast<std::int64_t>(count));
}

INSTANTIATE_TEST_SUITE_P(counts, EnqueueMany, ::testing::Values(1, 2, 99, 100, 101, 250, 1000, 1001, 2500));

TEST_F(Enqueue, of_nothing_stores_nothing) {
    EXPECT_THAT(store().enqueue({job_spec(), {}}), IsEmpty());
    EXPECT_EQ(stored(), 0);
}

// 8 MiB go into one statement; what is more is cut into several, in one transaction.
TEST_F(Enqueue, cuts_large_bulks_by_their_bytes_and_stores_all_or_none_of_them) {
    const std::vector<std::string> payloads(9, '"' + std::string(1'000'000, 'x') + '"');
    const std::vector<JobId> ids = store().enqueue({job_spec(), payloads});
    EXPECT_THAT(ids, SizeIs(9));
    EXPECT_TRUE(std::ranges::is_sorted(ids));
    EXPECT_EQ(stored(), 9);

    std::vector<std::string> last_one_bad = payloads;
    last_one_bad.back() = R"("\u0000")";
    EXPECT_EQ(code_of([&] { store().enqueue({job_spec(), last_one_bad}); }), ErrorCode::store_rejected);
    EXPECT_EQ(stored(), 9);
}

TEST_F(Enqueue, joins_the_callers_transaction) {
    pqxx::connection connection(dsn());
    JobId id{};
    {
        pqxx::work work(connection);
        id = store().enqueue(work, {job_spec(), one_payload}).front();
        EXPECT_EQ(place_of(id), "nowhere");
        EXPECT_FALSE(store().find(id));
        work.commit();
    }
    EXPECT_EQ(place_of(id), "ready");
    EXPECT_TRUE(store().find(id));
}

TEST_F(Enqueue, leaves_nothing_when_the_caller_rolls_back) {
    pqxx::connection connection(dsn());
    {
        pqxx::work work(connection);
        const std::vector<std::string> payloads(250, "1");
        EXPECT_THAT(store().enqueue(work, {job_spec(), payloads}), SizeIs(250));
        work.abort();
    }
    EXPECT_EQ(stored(), 0);
    EXPECT_EQ(number("select count(*) from @schema@.ready"), 0);
    EXPECT_THAT(claim().jobs, IsEmpty());
}

// What was committed or rolled back would otherwise run in autocommit, apart from the caller's data.
TEST_F(Enqueue, refuses_a_transaction_that_is_over) {
    pqxx::connection connection(dsn());
    for (const bool committed : {true, false}) {
        pqxx::work work(connection);
        work.exec("select 1");
        if (committed) {
            work.commit();
        } else {
            work.abort();
        }
        EXPECT_EQ(code_of([&] {
                      store().enqueue(work, {job_spec(), one_payload});
                  }),
                  ErrorCode::closed_transaction)
            << (committed ? "committed" : "rolled back");
    }
    EXPECT_EQ(stored(), 0);
}

TEST_F(Enqueue, can_be_rolled_back_to_a_savepoint_of_the_caller) {
    pqxx::connection connection(dsn());
    pqxx::work work(connection);
    const JobId kept = store().enqueue(work, {job_spec(), one_payload}).front();
    {
        pqxx::subtransaction inner(work, "inner");
        store().enqueue(inner, {job_spec(), one_payload});
        inner.abort();
    }
    {
        pqxx::subtransaction inner(work, "inner");
        // Refused inside the savepoint only.
        const std::vector<std::string> bad{R"("\u0000")"};
        EXPECT_EQ(code_of([&] { store().enqueue(inner, {job_spec(), bad}); }), ErrorCode::store_rejected);
        inner.abort();
    }
    JobId also_kept{};
    {
        pqxx::subtransaction inner(work, "inner");
        also_kept = store().enqueue(inner, {job_spec(), one_payload}).front();
        inner.commit();
    }
    work.commit();
    EXPECT_THAT(tests::ids_of(claim()), ElementsAre(kept, also_kept));
    EXPECT_EQ(stored(), 2);
}

TEST_F(Enqueue, sends_exactly_one_statement_on_the_callers_connection) {
    sql("create table @schema@.seen (query text)");
    enqueue_one();  // the names are known now, as they nearly always are
    pqxx::connection connection(dsn());
    pqxx::work work(connection);
    const auto pid = number("select pid from pg_stat_activity where backend_xid is null and pid = $1",
                            Params{}.add(connection.backendpid()));
    EXPECT_EQ(pid, connection.backendpid());
    work.exec("select 1");
    store().enqueue(work, {job_spec(), one_payload});
    // The last one that the server saw is the enqueue itself: nothing came after it, nothing is left behind.
    EXPECT_THAT(sql("select query from pg_stat_activity where pid = $1", Params{}.add(pid)).string(0, 0),
                ::testing::HasSubstr("enqueue_jobs"));
    EXPECT_EQ(work.exec("select count(*) from pg_prepared_statements")[0][0].as<int>(), 0);
    EXPECT_EQ(
        work.exec("select count(*) from pg_settings where source = 'session' and name not like '%encoding%'")[0][0]
            .as<int>(),
        0);
    work.commit();
}

// Whatever the session resolves names by: the tables, types, functions and operators are ours.
TEST_F(Enqueue, does_not_depend_on_the_callers_search_path) {
    const auto hostile = schema() + "_hostile";
    sql("drop schema if exists " + hostile + " cascade");
    sql("create schema " + hostile);
    pqxx::connection connection(dsn());
    pqxx::work work(connection);
    work.exec("set local search_path = " + hostile + ", pg_catalog");
    for (const char* table : {"job", "ready", "scheduled", "kind", "queue", "waiting"}) {
        work.exec(std::string("create table ") + hostile + '.' + table + " (id text)");
    }
    work.exec("create domain " + hostile + ".text as int");
    work.exec("create domain " + hostile + ".jsonb as int");
    work.exec("create domain " + hostile + ".timestamptz as int");
    for (const char* function :
         {"pg_notify(pg_catalog.text, pg_catalog.text) returns void language plpgsql as "
          "'begin raise exception ''hijacked''; end'",
          "current_setting(pg_catalog.text) returns pg_catalog.text language plpgsql as "
          "'begin raise exception ''hijacked''; end'",
          "nextval(pg_catalog.regclass) returns bigint language sql as 'select 7::bigint'",
          "wrong(bigint, interval) returns interval language plpgsql as 'begin raise exception ''hijacked''; end'",
          "wrong(int, int) returns boolean language plpgsql as 'begin raise exception ''hijacked''; end'",
          "wrong(pg_catalog.timestamptz, interval) returns pg_catalog.timestamptz language plpgsql as "
          "'begin raise exception ''hijacked''; end'"}) {
        work.exec("create function " + hostile + '.' + function);
    }
    work.exec("create operator " + hostile + ".* (leftarg = bigint, rightarg = interval, function = " + hostile +
              ".wrong)");
    work.exec("create operator " + hostile + ".= (leftarg = int, rightarg = int, function = " + hostile + ".wrong)");
    work.exec("create operator " + hostile +
              ".+ (leftarg = pg_catalog.timestamptz, rightarg = interval, function = " + hostile + ".wrong)");

    const JobId now = store().enqueue(work, {job_spec(), one_payload}).front();
    const JobId later =
        store().enqueue(work, {job_spec([](auto& spec) { spec.due = Duration(1h); }), one_payload}).front();
    const JobId at =
        store().enqueue(work, {job_spec([](auto& spec) { spec.due = Time(2'000'000'000s); }), one_payload}).front();
    work.commit();
    EXPECT_EQ(place_of(now), "ready");
    EXPECT_EQ(place_of(later), "scheduled");
    EXPECT_EQ(place_of(at), "scheduled");
    sql("drop schema " + hostile + " cascade");
}

TEST_F(Enqueue, does_not_let_the_callers_encoding_change_the_text) {
    pqxx::connection connection(dsn());
    connection.set_client_encoding("LATIN1");
    pqxx::work work(connection);
    const std::vector<std::string> umlaut{"\"\xc3\xbc\""};
    EXPECT_EQ(code_of([&] { store().enqueue(work, {job_spec(), umlaut}); }), ErrorCode::store_rejected);
    // Nothing was sent, so the transaction goes on; and ASCII is the same everywhere.
    const JobId id = store().enqueue(work, {job_spec(), one_payload}).front();
    work.commit();
    EXPECT_EQ(place_of(id), "ready");
    EXPECT_EQ(stored(), 1);
}

// The name is stored by another connection meanwhile, so the caller's snapshot does not show it.
TEST_F(Enqueue, takes_a_new_kind_in_a_repeatable_read_transaction) {
    for (const char* level : {"repeatable read", "serializable"}) {
        pqxx::connection connection(dsn());
        connection.set_variable("default_transaction_isolation", std::string("'") + level + "'");
        pqxx::work work(connection);
        work.exec("select count(*) from pg_class");
        const auto spec = job_spec([&](auto& s) {
            s.kind = std::string("new in ") + level;
            s.queue = s.kind;
        });
        const JobId id = store().enqueue(work, {spec, one_payload}).front();
        work.commit();
        const auto found = store().find(id);
        ASSERT_TRUE(found) << level;
        EXPECT_EQ(found->kind, spec.kind);
        EXPECT_EQ(found->queue, spec.queue);
    }
}

TEST_F(Enqueue, puts_what_is_due_into_ready_and_the_rest_into_scheduled) {
    struct Row {
        std::variant<std::monostate, Duration, Time> due;
        std::string place;
    };
    const std::vector<Row> rows{
        {std::monostate{}, "ready"},
        {Duration(0s), "ready"},
        {Duration(1us), "scheduled"},
        {Duration(1h), "scheduled"},
        {Duration::max(), "scheduled"},
        {Time{}, "ready"},
        {Time::min(), "ready"},
        {Time(std::chrono::sys_days{std::chrono::year{2020} / 2 / 29}), "ready"},
        {Time(std::chrono::sys_days{std::chrono::year{2190} / 1 / 1}), "scheduled"},
        {Time::max(), "scheduled"},
    };
    for (const Row& row : rows) {
        const JobId id = enqueue_one(job_spec([&](auto& spec) { spec.due = row.due; }));
        EXPECT_EQ(place_of(id), row.place) << "row " << &row - rows.data();
        EXPECT_TRUE(store().find(id)->run_at);
    }
    // None of them stands in the way of the others.
    EXPECT_GE(store().promote(100).moved, 1);
    EXPECT_THAT(claim().jobs, SizeIs(6));
}

TEST_F(Enqueue, keeps_the_microsecond_of_run_at) {
    const Time at = Time(std::chrono::sys_days{std::chrono::year{2250} / 1 / 1}) + 123456us;
    const JobId id = enqueue_one(job_spec([&](auto& spec) { spec.due = at; }));
    EXPECT_EQ(store().find(id)->run_at, at);
}

// P8
TEST_F(Enqueue, carries_every_option_to_the_claim) {
    const auto spec = job_spec([](auto& s) {
        s.queue = "späte \"Post\", {a,b} \\ 'x'";
        s.priority = Priority::high;
        s.payload_version = 7;
        s.max_retries = 0;
        s.backoff = Backoff::exponential(2s).capped(10min);
        s.timeout = Duration(1500us);
        s.tags = {"a", "b,c", "\"d\"", "{e}", "null", "ü"};
        s.params = {{"empty", ""}, {"quote\"", "back\\slash"}, {"zwölf", "{1,2}"}};
    });
    const std::vector<std::string> payloads{
        R"({"text": "\"{}\\ ü \ud83d\ude00", "n": 12345678901234567890, "f": 0.1})"};
    const JobId id = store().enqueue({spec, payloads}).front();

    const std::vector<QueueRoom> rooms{{queue_id(spec.queue), 1}};
    const std::vector<int> kinds{kind_id()};
    const Claimed claimed = store().claim({node(), rooms, {}, kinds});
    ASSERT_THAT(claimed.jobs, SizeIs(1));
    const model::ClaimedJob& job = *claimed.jobs.front();
    EXPECT_EQ(job.slot.id, id);
    EXPECT_EQ(job.kind, spec.kind);
    EXPECT_EQ(job.queue, spec.queue);
    EXPECT_EQ(job.facts.priority, Priority::high);
    EXPECT_EQ(job.facts.attempts, 0);
    EXPECT_EQ(job.payload_version, 7);
    EXPECT_EQ(job.max_retries, 0);
    EXPECT_EQ(job.timeout, spec.timeout);
    EXPECT_EQ(job.tags, spec.tags);
    EXPECT_EQ(job.params, spec.params);
    ASSERT_TRUE(job.backoff);
    EXPECT_EQ(*job.backoff, model::to_text(*spec.backoff));
    // jsonb changes blanks and the order of keys, never a digit.
    EXPECT_EQ(number("select ($1::jsonb = $2::jsonb)::int", Params{}.add(job.payload).add(payloads.front())), 1);
    EXPECT_THAT(job.payload, ::testing::HasSubstr("12345678901234567890"));

    const auto found = store().find(id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->tags, spec.tags);
    EXPECT_EQ(found->params, spec.params);
    EXPECT_EQ(found->max_retries, 0);
    EXPECT_EQ(found->priority, Priority::high);
    EXPECT_EQ(found->state, State::running);
}

TEST_F(Enqueue, leaves_what_was_not_said_open) {
    enqueue_one();
    const Claimed claimed = claim();
    ASSERT_THAT(claimed.jobs, SizeIs(1));
    const model::ClaimedJob& job = *claimed.jobs.front();
    EXPECT_FALSE(job.max_retries);
    EXPECT_FALSE(job.backoff);
    EXPECT_FALSE(job.timeout);
    EXPECT_THAT(job.tags, IsEmpty());
    EXPECT_THAT(job.params, IsEmpty());
    EXPECT_EQ(job.facts.priority, Priority::normal);
}

TEST_F(Enqueue, stores_no_timeout_as_no_timeout) {
    enqueue_one(job_spec([](auto& spec) { spec.timeout = no_timeout; }));
    EXPECT_EQ(claim().jobs.at(0)->timeout, no_timeout);
}

// B180
TEST_F(Enqueue, burns_no_value_for_names_that_are_known) {
    pqxx::connection connection(dsn());
    for (int i = 0; i < 50; ++i) {
        const auto another = new_store();  // knows no name yet
        another->enqueue({job_spec(), one_payload});
        pqxx::work work(connection);
        another->enqueue(work, {job_spec(), one_payload});
        work.commit();
        if (i == 5) i = 45;  // 10 stores are enough
    }
    EXPECT_EQ(number("select last_value from @schema@.kind_id_seq"), 1);
    EXPECT_EQ(number("select last_value from @schema@.queue_id_seq"), 1);
}

TEST_F(Enqueue, interns_one_name_at_a_time_however_many_come_first) {
    std::vector<std::future<JobId>> first;
    for (int i = 0; i < 8; ++i) {
        first.push_back(std::async(std::launch::async, [&] {
            return new_store()->enqueue({job_spec([](auto& s) { s.kind = "new"; }), one_payload}).front();
        }));
    }
    for (auto& job : first) EXPECT_GT(job.get(), 0);
    EXPECT_EQ(number("select count(*) from @schema@.kind"), 1);
    EXPECT_EQ(stored(), 8);
}

// A caller that stays in its transaction for long holds up nobody who uses the same new names.
TEST_F(Enqueue, never_waits_for_a_transaction_that_was_first_to_use_a_name) {
    pqxx::connection connection(dsn());
    pqxx::work work(connection);
    store().enqueue(work, {job_spec([](auto& s) { s.kind = "new"; }), one_payload});
    EXPECT_GT(new_store()->enqueue({job_spec([](auto& s) { s.kind = "new"; }), one_payload}).front(), 0);
}

TEST_F(Enqueue, stores_new_jobs_in_the_partition_of_their_ids) {
    EXPECT_EQ(number("select first_id from @schema@.id_range order by first_id limit 1"), 0);
    enqueue(250);
    EXPECT_EQ(number("select count(*) from only @schema@.job_default"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.job_0"), 250);
}

// B178
TEST_F(Enqueue, works_with_ids_beyond_31_and_53_bits) {
    for (const std::int64_t from : {(std::int64_t{1} << 31) - 200, (std::int64_t{1} << 53) - 200}) {
        sql("select setval('@schema@.job_id', $1)", Params{}.add(from / 100 * 100));
        store().make_room();
        std::vector<JobId> ids = enqueue(350);
        EXPECT_LT(ids.front(), from + 200);
        EXPECT_GT(ids.back(), from + 200);
        std::vector<JobId> claimed;
        while (claimed.size() < ids.size()) {
            const Claimed some = claim();
            ASSERT_FALSE(some.jobs.empty());
            std::vector<model::Settlement> settlements;
            for (const auto& job : some.jobs) {
                claimed.push_back(job->slot.id);
                settlements.push_back(tests::settlement(job, model::Verdict::complete));
            }
            settle(settlements);
        }
        EXPECT_EQ(claimed, ids);
        EXPECT_EQ(store().find(ids.back())->state, State::succeeded);
        EXPECT_EQ(store().find(ids.back())->id, ids.back());
    }
}

TEST_F(Enqueue, notifies_nobody_while_nobody_sleeps) {
    pg::Listener listener(dsn());
    listener.listen(channel());
    listener.open();
    enqueue(250);
    enqueue_one(job_spec([](auto& spec) { spec.due = Duration(1h); }));
    EXPECT_THAT(heard(listener), IsEmpty());
}

// B091
TEST_F(Enqueue, tells_sleepers_of_the_queue_once_per_transaction) {
    pg::Listener listener(dsn());
    listener.listen(channel());
    listener.open();
    const std::vector<int> asleep{queue_id()};
    store().announce_sleep({node(), asleep, std::nullopt});
    enqueue(2500);
    EXPECT_THAT(heard(listener), ElementsAre("ready " + std::to_string(queue_id())));
    enqueue_one(job_spec([](auto& spec) { spec.queue = "other"; }));
    EXPECT_THAT(heard(listener), IsEmpty());
    store().announce_awake(node());
    enqueue_one();
    EXPECT_THAT(heard(listener), IsEmpty());
}

// B202
TEST_F(Enqueue, tells_sleepers_at_the_commit_and_not_before) {
    pg::Listener listener(dsn());
    listener.listen(channel());
    listener.open();
    const std::vector<int> asleep{queue_id()};
    pqxx::connection connection(dsn());
    {
        pqxx::work work(connection);
        store().enqueue(work, {job_spec(), one_payload});
        // Who goes to sleep while the transaction is open is not missed.
        store().announce_sleep({node(), asleep, std::nullopt});
        EXPECT_THAT(heard(listener), IsEmpty());
        EXPECT_THAT(claim().jobs, IsEmpty());
        work.commit();
    }
    EXPECT_THAT(heard(listener), SizeIs(1));
    EXPECT_THAT(claim().jobs, SizeIs(1));
    {
        pqxx::work work(connection);
        store().enqueue(work, {job_spec(), one_payload});
        work.abort();
    }
    EXPECT_THAT(heard(listener), IsEmpty());
}

// Its snapshot says nothing about who sleeps by now.
TEST_F(Enqueue, tells_everybody_from_a_repeatable_read_transaction) {
    pg::Listener listener(dsn());
    listener.listen(channel());
    listener.open();
    pqxx::connection connection(dsn());
    connection.set_variable("default_transaction_isolation", "'repeatable read'");
    pqxx::work work(connection);
    store().enqueue(work, {job_spec(), one_payload});
    const std::vector<int> asleep{queue_id()};
    store().announce_sleep({node(), asleep, std::nullopt});
    work.commit();
    EXPECT_THAT(heard(listener), SizeIs(1));
}

TEST_F(Enqueue, tells_the_sleepers_only_of_scheduled_jobs_that_they_would_sleep_through) {
    pg::Listener listener(dsn());
    listener.listen(channel());
    listener.open();
    const std::vector<int> promotion{0};
    const auto in_an_hour = job_spec([](auto& spec) { spec.due = Duration(1h); });
    const auto in_a_minute = job_spec([](auto& spec) { spec.due = Duration(1min); });
    store().announce_upkeep_sleep({node(), promotion, 10min});
    enqueue_one(in_an_hour);
    EXPECT_THAT(heard(listener), IsEmpty());
    enqueue_one(in_a_minute);
    EXPECT_THAT(heard(listener), ElementsAre("scheduled"));
    store().announce_upkeep_sleep({node(), promotion, std::nullopt});
    enqueue_one(in_an_hour);
    EXPECT_THAT(heard(listener), ElementsAre("scheduled"));
}

// B089
TEST_F(Enqueue, keeps_payloads_out_of_notifications) {
    pg::Listener listener(dsn());
    listener.listen(channel());
    listener.open();
    const std::vector<int> asleep{queue_id()};
    store().announce_sleep({node(), asleep, std::nullopt});
    const std::vector<std::string> payloads{'"' + std::string(1'000'000, 'x') + '"'};
    store().enqueue({job_spec(), payloads});
    const auto payload = heard(listener);
    ASSERT_THAT(payload, SizeIs(1));
    EXPECT_LT(payload.front().size(), 100U);
    EXPECT_EQ(claim().jobs.at(0)->payload, payloads.front());
}

TEST_F(Enqueue, wakes_a_listener_of_the_store) {
    const auto listener = store().listen();
    EXPECT_TRUE(listener->wait(0ms).reconnected);
    const std::vector<int> asleep{queue_id()};
    store().announce_sleep({node(), asleep, std::nullopt});
    enqueue_one();
    EXPECT_THAT(listener->wait(10s).queues, ElementsAre(queue_id()));
}

TEST_F(Enqueue, gives_a_statement_for_other_drivers) {
    const auto spec = job_spec([](auto& s) {
        s.queue = "mail";
        s.tags = {"a,b", "c"};
        s.max_retries = 3;
    });
    const PlainStatement plain = store().enqueue_statement({spec, one_payload});
    Params params;
    for (const auto& value : plain.params) params.add(value);
    const auto rows = admin().run({{}, plain.sql}, params);
    ASSERT_THAT(rows.int64_array(0, 0), SizeIs(1));
    const auto found = store().find(rows.int64_array(0, 0).front());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->queue, "mail");
    EXPECT_EQ(found->tags, spec.tags);
    EXPECT_EQ(found->max_retries, 3);

    const std::vector<std::string> too_many(1001, "1");
    EXPECT_THROW((void)store().enqueue_statement({spec, too_many}), ConfigError);
}

class OddSchema : public tests::DatabaseTest, public ::testing::WithParamInterface<const char*> {
protected:
    OddSchema() : DatabaseTest(false) {}
    void TearDown() override {
        sql("drop schema if exists " + pg::quote_identifier(GetParam()) + " cascade");
        DatabaseTest::TearDown();
    }
};

TEST_P(OddSchema, holds_jobs_of_its_own) {
    sql("drop schema if exists " + pg::quote_identifier(GetParam()) + " cascade");
    sql("create schema @schema@");
    const auto odd = pg::make_store({.connection = dsn(), .schema = GetParam()});
    const auto plain = pg::make_store({.connection = dsn(), .schema = schema()});
    for (Store* one : {odd.get(), plain.get()}) {
        one->migrate();
        one->check_schema();
        one->make_room();
    }
    const auto listener = odd->listen();
    EXPECT_TRUE(listener->wait(0ms).reconnected);

    const std::vector<std::string> names{std::string(tests::test_kind)};
    const std::vector<std::string> queues{"default"};
    const NodeId node =
        odd->register_node({.name = "n", .host = {}, .boot = {}, .pid = 1, .process_start = {}, .expiry = 1min});
    const std::vector<int> kinds = odd->intern_kinds(names);
    const std::vector<int> queue = odd->intern_queues(queues);
    odd->announce_sleep({node, queue, std::nullopt});
    const std::vector<std::string> payloads(3, "{}");
    const std::vector<JobId> ids = odd->enqueue({job_spec(), payloads});
    EXPECT_THAT(listener->wait(10s).queues, ElementsAre(queue.front()));
    const std::vector<QueueRoom> rooms{{queue.front(), 10}};
    const Claimed claimed = odd->claim({node, rooms, {}, kinds});
    EXPECT_EQ(tests::ids_of(claimed), ids);
    const std::vector<model::Settlement> settlements{
        tests::settlement(claimed.jobs.at(0), model::Verdict::complete),
        tests::settlement(claimed.jobs.at(1), model::Verdict::retry_at, [](auto& d) { d.delay = 1h; })};
    EXPECT_THAT(odd->settle({node, 1, settlements}).applied, ElementsAre(true, true));
    EXPECT_EQ(odd->promote(10).moved, 0);
    EXPECT_EQ(odd->say_goodbye(node), 1);
    EXPECT_EQ(odd->find(ids.front())->state, State::succeeded);
    EXPECT_EQ(odd->counts(std::nullopt).ready, 1);
    EXPECT_THAT(odd->verify(), IsEmpty());
    EXPECT_EQ(plain->counts(std::nullopt).ready, 0);
    EXPECT_EQ(sql("select count(*) from " + pg::quote_identifier(GetParam()) + ".jobs").int64(0, 0), 3);
    EXPECT_GT(sql("select " + pg::quote_identifier(GetParam()) + ".enqueue('x')").int64(0, 0), 0);
}

INSTANTIATE_TEST_SUITE_P(names, OddSchema,
                         ::testing::Values("My \"odd\".schema", "\xf0\x9f\xa6\xab", "it's", "a\\b", "SELECT", "$1",
                                           "a schema name of sixty-three bytes, as many as there can be ..."));

}  // namespace
}  // namespace pawl::store
