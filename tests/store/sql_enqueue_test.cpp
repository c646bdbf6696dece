#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <pawl/errors.hpp>

#include "model/backoff_text.hpp"
#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using pg::Params;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SqlEnqueue : public tests::StoreTest {
protected:
    JobId call(std::string_view kind, std::string_view payload, std::optional<std::string_view> options) {
        return number("select @schema@.enqueue($1, $2::jsonb, $3::jsonb)",
                      Params{}.add(kind).add(payload).add(options));
    }
    JobId call(std::string_view options) { return call(tests::test_kind, "{}", options); }

    /// What it is refused with; empty when it is taken.
    std::string refusal(std::string_view kind, std::string_view payload, std::optional<std::string_view> options) {
        try {
            call(kind, payload, options);
        } catch (const StoreError& error) {
            EXPECT_EQ(error.code(), ErrorCode::store_rejected);
            EXPECT_EQ(error.sqlstate(), "22023") << error.what();
            return error.what();
        }
        return {};
    }
};

TEST_F(SqlEnqueue, stores_what_the_library_stores) {
    const JobId id = call("billing.charge", R"({"order": 42})", R"({
        "queue": "mail", "priority": "high", "max_retries": 3, "timeout": 1.5, "backoff": "exponential 2s capped 10min equal",
        "tags": [" B ", "a", "A", "b"], "params": {"tenant": "x", "empty": ""}, "payload_version": 2})");
    const std::vector<QueueRoom> rooms{{queue_id("mail"), 1}};
    const std::vector<int> kinds{kind_id("billing.charge")};
    const Claimed claimed = store().claim({node(), rooms, {}, kinds});
    ASSERT_THAT(claimed.jobs, SizeIs(1));
    const model::ClaimedJob& job = *claimed.jobs.front();
    EXPECT_EQ(job.slot.id, id);
    EXPECT_EQ(job.payload, R"({"order": 42})");
    EXPECT_EQ(job.payload_version, 2);
    EXPECT_EQ(job.facts.priority, Priority::high);
    EXPECT_EQ(job.max_retries, 3);
    EXPECT_EQ(job.timeout, Duration(1500ms));
    EXPECT_EQ(model::to_text(model::parse_backoff(job.backoff.value())), "exponential 2s capped 10min equal");
    EXPECT_THAT(job.tags, ElementsAre("a", "b"));
    EXPECT_THAT(job.params, ElementsAre(std::pair{"empty", ""}, std::pair{"tenant", "x"}));
}

TEST_F(SqlEnqueue, takes_good_options) {
    struct Row {
        const char* options;
        const char* place;
    };
    const std::vector<Row> rows{
        {"{}", "ready"},
        {R"({"delay": 0})", "ready"},
        {R"({"delay": 0.5})", "scheduled"},
        {R"({"delay": "1 day 2 hours"})", "scheduled"},
        {R"({"delay": "PT5M"})", "scheduled"},
        {R"({"delay": "999 years"})", "scheduled"},
        {R"({"delay": null, "run_at": null})", "ready"},
        {R"({"run_at": "2020-01-01T00:00:00Z"})", "ready"},
        {R"({"run_at": "-infinity"})", "ready"},
        {R"({"run_at": "2190-01-01T00:00:00+05:30"})", "scheduled"},
        {R"({"run_at": "9999-12-31T23:59:59Z"})", "scheduled"},
        {R"({"max_retries": 0})", "ready"},
        {R"({"max_retries": "7"})", "ready"},
        {R"({"timeout": "90 seconds"})", "ready"},
        {R"({"backoff": "none"})", "ready"},
        {R"({"backoff": "fixed 5s"})", "ready"},
        {R"({"backoff": "exponential  2s  capped 10min up_to 0.15"})", "ready"},
        {R"({"backoff": "polynomial scaled 0.5 1.5"})", "ready"},
        {R"({"backoff": "list 1s 30s 5min no_jitter"})", "ready"},
        {R"({"backoff": null})", "ready"},
        {R"({"tags": []})", "ready"},
        {R"({"tags": null, "params": null})", "ready"},
        {R"({"params": {}})", "ready"},
        {R"({"queue": null, "priority": null, "payload_version": null})", "ready"},
        {R"({"priority": "critical"})", "ready"},
        {R"({"priority": "lowest"})", "ready"},
    };
    for (const Row& row : rows) {
        const JobId id = call(row.options);
        EXPECT_EQ(place_of(id), row.place) << row.options;
        const auto found = store().find(id);
        ASSERT_TRUE(found) << row.options;
        EXPECT_TRUE(found->run_at) << row.options;
    }
    EXPECT_EQ(place_of(number("select @schema@.enqueue('a kind alone')")), "ready");
    EXPECT_EQ(place_of(call("x", "[]", std::nullopt)), "ready");
    // None of them stops those that read many at once.
    const auto promoted = store().promote(100);
    EXPECT_TRUE(promoted.next_due);
    const Claimed claimed = claim();
    EXPECT_THAT(claimed.jobs, SizeIs(::testing::Ge(18)));
    for (const auto& job : claimed.jobs) {
        if (job->backoff) {
            EXPECT_NO_THROW((void)model::parse_backoff(*job->backoff)) << *job->backoff;
        }
    }
}

TEST_F(SqlEnqueue, refuses_bad_input_and_names_the_field) {
    const std::string long_name(201, 'x');
    struct Row {
        std::string kind;
        std::string payload;
        std::optional<std::string> options;
        std::string field;
    };
    const auto options = [](std::string text, std::string field) {
        return Row{.kind = "k", .payload = "{}", .options = std::move(text), .field = std::move(field)};
    };
    const std::vector<Row> rows{
        {.kind = "", .payload = "{}", .options = "{}", .field = "kind"},
        {.kind = long_name, .payload = "{}", .options = "{}", .field = "kind"},
        {.kind = "a\nb", .payload = "{}", .options = "{}", .field = "kind"},
        {.kind = "k", .payload = '"' + std::string(102'400, 'x') + '"', .options = "{}", .field = "payload"},
        options("[]", "options"),
        options("5", "options"),
        options(R"({"prio": "high"})", "prio"),
        options(R"({"Delay": 5})", "Delay"),
        options(R"({"queue": ""})", "queue"),
        options(R"({"queue": ")" + long_name + R"("})", "queue"),
        options(R"({"priority": "urgent"})", "priority"),
        options(R"({"priority": 1})", "priority"),
        options(R"({"priority": "High"})", "priority"),
        options(R"({"max_retries": -1})", "max_retries"),
        options(R"({"max_retries": 1.5})", "max_retries"),
        options(R"({"max_retries": 5000000000})", "max_retries"),
        options(R"({"max_retries": "many"})", "max_retries"),
        options(R"({"max_retries": []})", "max_retries"),
        options(R"({"timeout": 0})", "timeout"),
        options(R"({"timeout": -1})", "timeout"),
        options(R"({"timeout": "soon"})", "timeout"),
        options(R"({"timeout": true})", "timeout"),
        options(R"({"timeout": "-1 hour"})", "timeout"),
        options(R"({"delay": -0.1})", "delay"),
        options(R"({"delay": "NaN"})", "delay"),
        options(R"({"delay": 1e15})", "delay"),
        options(R"({"delay": "100000000 years"})", "delay"),
        options(R"({"timeout": 1e300})", "timeout"),
        options(R"({"timeout": "170000000 years"})", "timeout"),
        options(R"({"run_at": "10000-01-01T00:00:00Z"})", "run_at"),
        options(R"({"delay": []})", "delay"),
        options(R"({"delay": "x"})", "delay"),
        options(R"({"delay": 1, "run_at": "2190-01-01T00:00:00Z"})", "delay"),
        options(R"({"run_at": "tomorrow-ish"})", "run_at"),
        options(R"({"run_at": 5})", "run_at"),
        options(R"({"run_at": "infinity"})", "run_at"),
        options(R"({"run_at": "2190-13-01T00:00:00Z"})", "run_at"),
        options(R"({"backoff": ""})", "backoff"),
        options(R"({"backoff": "fixed"})", "backoff"),
        options(R"({"backoff": "fixed 5"})", "backoff"),
        options(R"({"backoff": "fixed -5s"})", "backoff"),
        options(R"({"backoff": "fixed 5s 6s"})", "backoff"),
        options(R"({"backoff": "fixed 99999999999999999999s"})", "backoff"),
        options(R"({"backoff": "fixed 9000000000000000000d"})", "backoff"),
        options(R"({"backoff": "exponential 2s equally"})", "backoff"),
        options(R"({"backoff": "exponential 2s up_to"})", "backoff"),
        options(R"({"backoff": "exponential 2s up_to 7"})", "backoff"),
        options(R"({"backoff": "exponential 2s scaled 2 1"})", "backoff"),
        options(R"({"backoff": {"fixed": 5}})", "backoff"),
        options(R"({"backoff": 5})", "backoff"),
        options(R"({"tags": "a"})", "tags"),
        options(R"({"tags": {"a": 1}})", "tags"),
        options(R"({"tags": [1]})", "tags"),
        options(R"({"tags": [null]})", "tags"),
        options(R"({"tags": [["a"]]})", "tags"),
        options(R"({"tags": [" "]})", "tags"),
        options(R"({"tags": ["a\nb"]})", "tags"),
        options(R"({"tags": [")" + std::string(65, 'x') + R"("]})", "tags"),
        options(
            R"({"tags": ["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17","18","19","20","21"]})",
            "tags"),
        options(R"({"params": []})", "params"),
        options(R"({"params": {"a": 1}})", "params"),
        options(R"({"params": {"": "x"}})", "params"),
        options(R"({"params": {"a\u0001": "x"}})", "params"),
        options(R"({"params": {"a": ")" + std::string(4096, 'x') + R"("}})", "params"),
        options(R"({"payload_version": "x"})", "payload_version"),
        options(R"({"payload_version": -1})", "payload_version"),
        options(R"({"payload_version": 1.5})", "payload_version"),
        options(R"({"payload_version": 3000000000})", "payload_version"),
    };
    for (const Row& row : rows) {
        EXPECT_THAT(refusal(row.kind, row.payload, row.options), HasSubstr(row.field))
            << row.kind.substr(0, 20) << ' ' << row.options.value_or("null").substr(0, 100);
    }
    EXPECT_EQ(number("select count(*) from @schema@.job"), 0);
}

TEST_F(SqlEnqueue, leaves_nothing_in_a_transaction_that_is_rolled_back) {
    pqxx::connection connection(dsn());
    pqxx::work work(connection);
    work.exec(pg::with_schema(
        "select @schema@.enqueue('k', '{}', '{}'), @schema@.enqueue('k', '{}', '{\"delay\": 60}')", schema()));
    work.abort();
    EXPECT_EQ(number("select count(*) from @schema@.job"), 0);
    EXPECT_EQ(store().counts(std::nullopt).ready + store().counts(std::nullopt).scheduled, 0);
}

// B021, B023: what is due now is due now, whichever zone and names the session has.
TEST_F(SqlEnqueue, depends_on_neither_the_time_zone_nor_the_search_path_of_the_session) {
    const auto hostile = schema() + "_hostile";
    sql("create schema " + hostile);
    for (const char* zone : {"UTC", "Asia/Shanghai", "America/New_York", "Europe/Oslo"}) {
        pqxx::connection connection(dsn());
        pqxx::nontransaction work(connection);
        work.exec(std::string("set timezone = '") + zone + "'");
        work.exec("set datestyle = 'german, dmy'");
        work.exec("set intervalstyle = 'sql_standard'");
        work.exec("set search_path = " + hostile);
        const auto one = [&](const std::string& options) {
            return work
                .exec(pg::with_schema("select @schema@.enqueue('test.job', '{}', '" + options + "'::pg_catalog.jsonb)",
                                      schema()))[0][0]
                .as<JobId>();
        };
        const JobId now = one("{}");
        const JobId later = one(R"({"delay": 3600})");
        const JobId at = one(R"({"run_at": "2190-01-01T00:00:00Z"})");
        EXPECT_EQ(place_of(now), "ready") << zone;
        const auto late_by = store().find(later)->run_at.value() - store().find(now)->run_at.value();
        EXPECT_GE(late_by, 1h) << zone;
        EXPECT_LT(late_by, 1h + 10s) << zone;
        EXPECT_EQ(store().find(at)->run_at.value(), Time(std::chrono::sys_days{std::chrono::year{2190} / 1 / 1}))
            << zone;
        EXPECT_THAT(tests::ids_of(claim()), ElementsAre(now)) << zone;
    }
    sql("drop schema " + hostile + " cascade");
    EXPECT_EQ(number("select count(*) from information_schema.columns "
                     "where table_schema = $1 and data_type = 'timestamp without time zone'",
                     Params{}.add(schema())),
              0);
}

}  // namespace
}  // namespace pawl::store
