#include "support/database.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include <unistd.h>

#include <pawl/testing/private_postgres.hpp>

#include "store/pg/migrator.hpp"

// libpqxx 6.4 forgets the last answer of a connection that is lost while it reads it. Read by LeakSanitizer.
extern "C" const char*
__lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" const char* __lsan_default_suppressions() { return "leak:libpqxx-6.4\n"; }

namespace pawl::tests {

namespace {

using store::pg::Params;
using store::pg::Statement;

/// Ends the server at the end of the run, not among the destructors of statics.
class Server : public ::testing::Environment {
public:
    const std::string& dsn() {
        if (dsn_.empty()) {
            const char* given = std::getenv("PAWL_DSN");
            if (given != nullptr && *given != '\0') {
                dsn_ = given;
            } else {
                dsn_ = postgres_.emplace(testing::PrivatePostgres::start()).dsn();
            }
        }
        return dsn_;
    }
    // On the main thread, with which the server ends.
    void SetUp() override { dsn(); }
    void TearDown() override { postgres_.reset(); }

private:
    std::optional<testing::PrivatePostgres> postgres_;
    std::string dsn_;
};

// GoogleTest owns it.
Server* const server = dynamic_cast<Server*>(::testing::AddGlobalTestEnvironment(new Server));

}  // namespace

const std::string& server_dsn() { return server->dsn(); }

std::string fresh_schema_name() {
    static std::atomic<int> count{0};
    return "test_" + std::to_string(::getpid()) + '_' + std::to_string(++count);
}

bool eventually(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::yield();
    }
    return true;
}

DatabaseTest::DatabaseTest(bool migrated) : migrated_(migrated), schema_(fresh_schema_name()) {}

void DatabaseTest::SetUp() {
    admin_ = std::make_unique<store::pg::Connection>(dsn(), store::pg::SessionOptions{.application_name = "pawl test"});
    admin_->open();
    // Left over from a process with the same id that was killed.
    sql("drop schema if exists @schema@ cascade");
    if (migrated_) store::pg::migrate(*admin_, schema_);
}

void DatabaseTest::TearDown() {
    admin_->open();
    const auto exists = sql(R"sql(
        select exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                       where n.nspname = $1 and p.proname = 'verify')
    )sql",
                            Params{}.add(schema_));
    if (exists.boolean(0, 0)) {
        const auto wrong = sql("select v::text from @schema@.verify() v limit 20");
        for (std::size_t row = 0; row < wrong.size(); ++row) {
            ADD_FAILURE() << "a job stands in zero or two places: " << wrong.text(row, 0);
        }
    }
    sql("drop schema if exists @schema@ cascade");
}

store::pg::Result DatabaseTest::sql(std::string_view statement, const Params& params) {
    return admin_->run(Statement{{}, store::pg::with_schema(statement, schema_)}, params);
}

void DatabaseTest::kill_backend(int pid) { sql("select pg_terminate_backend($1::int, 10000)", Params{}.add(pid)); }

}  // namespace pawl::tests
