#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>
#include <pawl/testing/private_postgres.hpp>

#include "store/pg/connection.hpp"
#include "support/database.hpp"

namespace pawl::testing {
namespace {

std::string directory_of(const std::string& dsn) {
    const auto begin = dsn.find('/');
    return dsn.substr(begin, dsn.find(' ') - begin);
}

bool connects(const std::string& dsn) {
    try {
        store::pg::Connection{dsn}.open();
        return true;
    } catch (const StoreError&) {
        return false;
    }
}

std::int64_t schemas_named(const std::string& name) {
    store::pg::Connection connection{tests::server_dsn()};
    connection.open();
    return connection.run({{}, "select count(*) from pg_namespace where nspname = $1"}, store::pg::Params{}.add(name))
        .int64(0, 0);
}

TEST(PrivatePostgres, is_gone_with_its_object) {
    std::string dsn;
    {
        const auto postgres = PrivatePostgres::start();
        dsn = postgres.dsn();
        EXPECT_EQ(postgres.schema(), "pawl");
        EXPECT_TRUE(connects(dsn));
    }
    EXPECT_FALSE(connects(dsn));
    EXPECT_FALSE(std::filesystem::exists(directory_of(dsn)));
}

TEST(PrivatePostgres, ends_with_a_killed_process_and_is_swept_by_the_next) {
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto postgres = PrivatePostgres::start();
        const auto dsn = postgres.dsn() + '\n';
        [[maybe_unused]] const auto written = ::write(channel[1], dsn.data(), dsn.size());
        for (;;) ::pause();
    }
    ::close(channel[1]);
    std::string dsn;
    for (char c = 0; ::read(channel[0], &c, 1) == 1 && c != '\n';) dsn += c;
    ::close(channel[0]);
    ASSERT_TRUE(connects(dsn));

    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    // The server removes its own pid file as it ends.
    const std::filesystem::path directory = directory_of(dsn);
    EXPECT_TRUE(tests::eventually([&] { return !std::filesystem::exists(directory / "data" / "postmaster.pid"); }));
    EXPECT_TRUE(std::filesystem::exists(directory));

    const auto next = PrivatePostgres::start();
    EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(PrivatePostgres, makes_and_drops_a_schema_on_a_given_server) {
    std::string name;
    {
        const auto postgres = PrivatePostgres::schema_on(tests::server_dsn());
        name = postgres.schema();
        EXPECT_EQ(postgres.dsn(), tests::server_dsn());
        EXPECT_EQ(schemas_named(name), 1);
        EXPECT_NE(PrivatePostgres::schema_on(tests::server_dsn()).schema(), name);
    }
    EXPECT_EQ(schemas_named(name), 0);
}

}  // namespace
}  // namespace pawl::testing
