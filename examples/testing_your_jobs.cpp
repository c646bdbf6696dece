// Testing a service that uses pawl: a throw-away PostgreSQL, looks at what was enqueued, jobs run on the test's own
// thread, and time travel. Bound to no test framework.

#include <cstdint>
#include <stdexcept>
#include <string>

#include <pqxx/pqxx>

#include <pawl/testing.hpp>

#include "example.hpp"

namespace {

// What is tested: a shop that sends a receipt for each order, and says so in the order's row.
struct SendReceipt {
    static constexpr std::string_view kind = "testing_your_jobs.send_receipt";
    std::int64_t order_id{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(SendReceipt, order_id)
};

struct MailServer {
    int refusals{};
    int sent{};
    void send(std::int64_t /*order_id*/) {
        if (refusals-- > 0) throw pawl::TransientError("421 try again later");
        ++sent;
    }
};

void place_order(pawl::Scheduler& scheduler, pqxx::connection& connection, std::int64_t id) {
    pqxx::work tx{connection};
    tx.exec("insert into orders values (" + std::to_string(id) + ")");
    scheduler.enqueue(SendReceipt{id}).with_tags({"mail"}).submit(tx);
    tx.commit();
}

}  // namespace

int main() {
    return example::run([] {
        // [setup]
        const pawl::testing::PrivatePostgres postgres;  // one per test program; a schema per test keeps them apart
        pawl::migrate(postgres.dsn(), postgres.schema());
        pawl::Scheduler scheduler{
            {.connection = postgres.dsn(), .schema = postgres.schema(), .logger = example::no_log()}};
        MailServer mail{.refusals = 1};
        scheduler.on<SendReceipt>([&](const SendReceipt& job) { mail.send(job.order_id); });
        // [/setup]
        pqxx::connection connection{postgres.dsn()};
        pqxx::nontransaction{connection}.exec("create temporary table orders (id bigint primary key)");

        // [look]
        place_order(scheduler, connection, 42);
        const auto check = pawl::testing::expect_enqueued<SendReceipt>(
            scheduler, [](const auto& receipt) { return receipt.job.order_id == 42; }, {.tag = "mail"});
        example::expect(check.passed, check.message);
        // [/look]

        // [drain]
        example::expect(pawl::testing::drain(scheduler) == 1, "the due job is run, and the mail server refuses");
        example::expect(mail.sent == 0, "so nothing is sent yet");

        example::expect(pawl::testing::make_due(scheduler) == 1, "its retry is due now, without waiting for it");
        example::expect(pawl::testing::drain(scheduler) == 1, "it is run again");
        example::expect(mail.sent == 1, "and the receipt is sent");
        // [/drain]
        const auto done = pawl::testing::expect_enqueued<SendReceipt>(scheduler, 1, {.state = pawl::State::succeeded});
        example::expect(done.passed, done.message);
        fmt::print("an order was placed, its receipt refused once, and sent at the second run\n");
    });
}
