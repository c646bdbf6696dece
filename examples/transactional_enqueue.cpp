// A job in your own transaction exists if and only if that commits. Three ways: libpqxx, in bulk, and raw libpq.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <libpq-fe.h>
#include <pqxx/pqxx>

#include <pawl/testing.hpp>

#include "example.hpp"

namespace {

// [job]
struct ShipOrder {
    static constexpr std::string_view kind = "transactional_enqueue.ship_order";
    std::int64_t order_id{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(ShipOrder, order_id)
};
// [/job]

pawl::JobId commit_and_roll_back(pawl::Scheduler& scheduler) {
    pqxx::connection connection{example::dsn()};

    // [commit]
    pqxx::work tx{connection};
    tx.exec("create temporary table orders as select 1 as id, 'paid' as state");
    const pawl::JobHandle job = scheduler.enqueue(ShipOrder{1}).with_timeout(std::chrono::minutes(1)).submit(tx);
    tx.commit();  // from here on the order and its job exist; before it, neither did
    // [/commit]

    // [rollback]
    pawl::JobId forgotten = 0;
    {
        pqxx::work undone{connection};
        undone.exec("update orders set state = 'canceled'");
        forgotten = scheduler.enqueue(ShipOrder{1}).submit(undone).id();
    }  // not committed: neither the update nor the job ever was
    // [/rollback]
    example::expect(!scheduler.find(forgotten), "a job of a transaction that was rolled back is not there");
    fmt::print("job {} was committed; job {} was rolled back and is not there\n", job.id(), forgotten);
    return job.id();
}

std::vector<pawl::JobId> enqueue_in_bulk(pawl::Scheduler& scheduler) {
    pqxx::connection connection{example::dsn()};

    // [bulk]
    std::vector<ShipOrder> orders;
    for (std::int64_t id = 100; id < 350; ++id) orders.push_back({id});

    pqxx::work tx{connection};
    const std::vector<pawl::JobId> ids =
        scheduler.enqueue_many(tx, orders, {.priority = pawl::Priority::low, .tags = {"import"}});
    tx.commit();
    // [/bulk]
    fmt::print("{} jobs were enqueued at once, with the ids {} to {}\n", ids.size(), ids.front(), ids.back());
    return ids;
}

void send(PGconn* connection, const char* sql) { PQclear(PQexec(connection, sql)); }

void enqueue_by_libpq(pawl::Scheduler& scheduler) {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(example::dsn().c_str()), &PQfinish);

    // [libpq]
    const pawl::EnqueueStatement statement = scheduler.enqueue_statement(ShipOrder{7}, {.max_retries = 2});
    std::vector<const char*> values;
    for (const auto& param : statement.params) values.push_back(param ? param->c_str() : nullptr);

    send(connection.get(), "begin");
    PGresult* const result = PQexecParams(connection.get(), statement.sql.c_str(), static_cast<int>(values.size()),
                                          nullptr, values.data(), nullptr, nullptr, 0);
    const bool stored = PQresultStatus(result) == PGRES_TUPLES_OK;
    // [/libpq]
    const std::string ids = stored ? PQgetvalue(result, 0, 0) : PQresultErrorMessage(result);
    PQclear(result);
    send(connection.get(), "commit");

    example::expect(stored, "the statement works on raw libpq: " + ids);
    fmt::print("raw libpq enqueued {}\n", ids);
}

}  // namespace

int main() {
    return example::run([] {
        pawl::migrate(example::dsn());
        // Never started: it only enqueues, and needs neither handlers nor threads.
        pawl::Scheduler scheduler{{.connection = example::dsn(), .logger = example::no_log()}};

        const pawl::JobId committed = commit_and_roll_back(scheduler);
        const std::vector<pawl::JobId> many = enqueue_in_bulk(scheduler);
        enqueue_by_libpq(scheduler);

        example::expect(scheduler.find(committed).has_value(), "a committed job is there");
        const auto last = scheduler.find(many.back());
        example::expect(last && last->priority == pawl::Priority::low && last->tags.front() == "import",
                        "the options hold for every job of a bulk call");

        // Nobody is to run these later on.
        pawl::Scheduler worker{{.connection = example::dsn(), .logger = example::no_log()}};
        worker.on<ShipOrder>([](const ShipOrder&) {});
        const std::size_t runs = pawl::testing::drain(worker);
        example::expect(runs >= 252, "all that was committed is run");
        fmt::print("{} jobs were run\n", runs);
    });
}
