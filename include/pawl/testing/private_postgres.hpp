#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace pawl::testing {

/// A PostgreSQL for tests that is gone when the object is: a throw-away server on a unix socket in a directory of its
/// own, without network, ports or durability. It takes about half a second to start, so one per test program is
/// enough: tests are kept apart by schemas.
///
/// With `PAWL_DSN` in the environment no server is started; that one is used, in a schema made for this object.
/// The programs `initdb` and `postgres` are looked for in `PAWL_PG_BIN`, on the PATH, by `pg_config`, and where the
/// usual packages put them. As root, the server runs as the user postgres. It also ends when this process is killed;
/// the directory is then removed by the next one that starts.
///
/// **Throws** `ConfigError` when PostgreSQL is not installed, saying how to install it; `StoreError` when it does not
/// start, with the end of its log.
/// **Threads**: const members safe concurrently. Construct it on the thread that lives longest, usually that of `main`:
/// Linux ends the server with the thread that started it.
///
///     pawl::testing::PrivatePostgres postgres;
///     pawl::Scheduler scheduler{{.connection = postgres.dsn(), .schema = postgres.schema(), .migrate_on_start = true}};
class PrivatePostgres {
public:
    /// On the server that `PAWL_DSN` names, else on a server of its own.
    PrivatePostgres();

    /// A server of its own, whatever the environment says.
    [[nodiscard]] static PrivatePostgres start();

    /// A schema with a name that nobody else has on a given server, dropped at the end with all that is in it.
    [[nodiscard]] static PrivatePostgres schema_on(std::string_view dsn);

    PrivatePostgres(PrivatePostgres&&) noexcept;
    PrivatePostgres& operator=(PrivatePostgres&&) noexcept;
    /// Stops the server and removes its directory, or drops the schema.
    ~PrivatePostgres();

    /// The connection string.
    [[nodiscard]] const std::string& dsn() const noexcept;
    /// `pawl` on a server of its own.
    [[nodiscard]] const std::string& schema() const noexcept;

private:
    struct Impl;
    explicit PrivatePostgres(std::unique_ptr<Impl> impl) noexcept;

    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::testing
