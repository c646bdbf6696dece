#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "store/pg/connection.hpp"

namespace pawl::tests {

/// The server of this test program: what `PAWL_DSN` names, else one of its own, started on first use and ended with
/// the program.
[[nodiscard]] const std::string& server_dsn();

/// A schema name that no other test has, created by nobody yet.
[[nodiscard]] std::string fresh_schema_name();

/// Polls a condition that nothing announces, such as a row of pg_stat_activity; false after ten seconds.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

/// A test with a schema of its own, migrated. At the end no job may stand in zero or two places, then the schema goes.
class DatabaseTest : public ::testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    [[nodiscard]] const std::string& dsn() const { return server_dsn(); }
    [[nodiscard]] const std::string& schema() const { return schema_; }

    /// An open connection of the test itself, beside those of what is tested.
    [[nodiscard]] store::pg::Connection& admin() { return *admin_; }
    /// Runs one statement on it, with `@schema@` replaced.
    store::pg::Result sql(std::string_view statement, const store::pg::Params& params = {});

    /// Ends a session, as a restart of the server would, and returns when it is gone.
    void kill_backend(int pid);

    /// `migrated` false: the schema has a name and does not exist.
    explicit DatabaseTest(bool migrated = true);

private:
    bool migrated_;
    std::string schema_;
    std::unique_ptr<store::pg::Connection> admin_;
};

/// The same with a schema that does not exist yet.
class EmptyDatabaseTest : public DatabaseTest {
protected:
    EmptyDatabaseTest() : DatabaseTest(false) {}
};

}  // namespace pawl::tests
