// The README's program.

// [readme]
#include <cstdlib>
#include <iostream>
#include <latch>

#include <pqxx/pqxx>

#include <pawl/pawl.hpp>

struct SendReceipt {  // a job is a struct with a stored name
    static constexpr std::string_view kind = "shop.send_receipt";
    std::int64_t order_id{};
    std::string email;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(SendReceipt, order_id, email)
};

int main() {
    const char* const given = std::getenv("PAWL_DSN");  // as in postgresql://user@host/database
    const std::string dsn = given != nullptr ? given : "";
    pawl::Scheduler scheduler{{.connection = dsn, .migrate_on_start = true}};

    std::latch sent{1};
    scheduler.on<SendReceipt>([&](const SendReceipt& job, pawl::JobContext& context) {
        std::cout << "run " << context.attempt() << ": receipt of order " << job.order_id << " to " << job.email
                  << '\n';
        if (context.attempt() == 1) throw pawl::TransientError("the mail server is busy");
        sent.count_down();
    });
    scheduler.start();

    pqxx::connection connection{dsn};
    pqxx::work tx{connection};  // your transaction: your rows and the job, or neither
    tx.exec("create temporary table orders as select 42 as id, 'paid' as state");
    scheduler.enqueue(SendReceipt{42, "customer@example.org"}).with_max_retries(5).submit(tx);
    tx.commit();

    sent.wait();
    return scheduler.stop().clean() ? 0 : 1;  // what runs may end; what has not begun goes back
}
// [/readme]
