// Enqueueing from SQL: psql, another language, another driver, a trigger. The same checks, in the caller's transaction.

#include <cstdint>
#include <string>

#include <pqxx/pqxx>

#include "example.hpp"

namespace {

struct SendMail {
    static constexpr std::string_view kind = "sql_enqueue.send_mail";
    std::string to;
    int copies{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(SendMail, to, copies)
};

}  // namespace

int main() {
    return example::run([] {
        pawl::Scheduler scheduler{
            {.connection = example::dsn(), .migrate_on_start = true, .logger = example::no_log()}};
        example::Endings endings{scheduler};
        scheduler.on<SendMail>([](const SendMail& job, pawl::JobContext& context) {
            fmt::print("job {}: {} copies to {}, tenant {}\n", context.id(), job.copies, job.to,
                       context.param("tenant").value_or("unknown"));
        });
        scheduler.start();

        // [enqueue]
        const char* const sql = R"(
            select pawl.enqueue(
                'sql_enqueue.send_mail',
                '{"to": "customer@example.org", "copies": 2}',
                '{"priority": "high", "max_retries": 2, "timeout": "30 s", "tags": ["mail"], "params": {"tenant": "7"}}'))";
        // [/enqueue]
        pqxx::connection connection{example::dsn()};
        pqxx::work tx{connection};
        const auto job = tx.exec(sql)[0][0].as<pawl::JobId>();
        tx.commit();
        endings.wait_for({job});
        const auto info = scheduler.find(job);
        example::expect(info && info->state == pawl::State::succeeded && info->priority == pawl::Priority::high,
                        "a job from SQL runs like any other");

        std::string refused;
        try {
            pqxx::work wrong{connection};
            wrong.exec(R"(select pawl.enqueue('sql_enqueue.send_mail', '{}', '{"prioriti": "high"}'))");
        } catch (const pqxx::sql_error& error) {
            refused = error.what();
        }
        fmt::print("refused: {}", refused.substr(0, refused.find('\n') + 1));
        example::expect(refused.find("there is no option \"prioriti\"") != std::string::npos, "options are checked");
        scheduler.stop();
    });
}
