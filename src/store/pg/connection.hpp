#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <pawl/errors.hpp>
#include <pawl/fwd.hpp>

#include "store/pg/conninfo.hpp"
#include "store/pg/params.hpp"
#include "store/pg/result.hpp"
#include "store/pg/statement.hpp"

namespace pawl::store::pg {

/// What the owner of a connection asks of its session.
struct SessionOptions {
    /// How long one statement may run on the server. Zero: no limit.
    std::chrono::milliseconds statement_timeout{30'000};
    /// How long one statement may wait for a lock. Zero: no limit.
    std::chrono::milliseconds lock_timeout{10'000};
    /// How long a transaction may stay open without a statement before the server ends the session, so that a stuck
    /// client holds neither locks nor vacuum. Zero: no limit.
    std::chrono::milliseconds idle_in_transaction_timeout{60'000};
    /// False behind a pooler in transaction mode: nothing is left in a session that the next transaction may not meet
    /// again and that others might. No prepared statements, and the settings above are made anew in each transaction.
    bool prepare{true};
    /// Plans each prepared statement once, and by its indexes even while the tables are small. For sessions that run the
    /// same few statements all the time: planning one of them anew takes longer than running it, and a plan made for
    /// an empty table must still hold for a full one.
    bool fixed_plans{false};
    /// Shown in pg_stat_activity, unless the connection string has one.
    std::string application_name{"pawl"};
};

/// One session with the database, for our own statements.
///
/// It never connects by itself: a lost connection closes it, the call throws `StoreError`, every later call throws
/// too, and `open()` begins a new session with the same settings, in which statements are prepared afresh.
///
/// **Throws** `StoreError`: `store_unavailable` when nothing was sent, `in_doubt` when the connection was lost with a
/// statement under way, `store_rejected` when the database refused it.
/// **Threads**: confined to one thread.
class Connection {
public:
    /// Does not connect. **Throws** `ConfigError` for a connection string that cannot be parsed.
    explicit Connection(std::string_view conninfo, SessionOptions options = {});
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    /// Connects and applies the settings; does nothing when open. Refuses a server that only reads (a standby).
    void open();
    void close() noexcept;
    [[nodiscard]] bool is_open() const noexcept;

    /// Runs one statement in a transaction of its own. A deadlock or serialization failure undid it completely, and is
    /// answered by running it again, a few times.
    Result run(const Statement& statement, const Params& params = {});

    /// Whether something came from the server while nothing was asked: after a time of rest that is the end of the
    /// session. Asks the socket only, so that it is cheap enough before each use of a connection that rested.
    [[nodiscard]] bool stale() const noexcept;

    [[nodiscard]] int backend_pid() const;
    /// For poll(); another one after each `open()`.
    [[nodiscard]] int socket() const;
    /// As the server numbers itself, for instance 150018.
    [[nodiscard]] int server_version() const;

private:
    friend class Listener;
    friend class Transaction;
    struct Session;

    Session& session() const;
    Result run_once(const Statement& statement, const Params& params);
    /// Turns the exception being handled into ours, and closes when the session is lost.
    [[nodiscard]] StoreError failed(bool sent, std::string_view doing);

    Conninfo conninfo_;
    SessionOptions options_;
    std::unique_ptr<Session> session_;
};

/// A transaction over several statements on a connection of ours; rolled back when destroyed without a commit.
///
/// After a failed statement only the rollback is left, and `commit()` throws: the server would answer it with a
/// rollback and libpqxx would not say so.
///
/// **Threads**: confined to one thread.
/// **Lifetime**: the connection outlives it and runs nothing else meanwhile.
class Transaction {
public:
    explicit Transaction(Connection& connection);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();

    Result run(const Statement& statement, const Params& params = {});

    /// Runs a text of any number of statements without parameters: migrations.
    void run_script(std::string_view sql);

    /// **Throws** `StoreError` with code `in_doubt` when the connection was lost before the answer.
    void commit();

private:
    struct Impl;

    std::unique_ptr<Impl> impl_;
};

/// A transaction of the caller on a connection of theirs, of which we know nothing: nothing is prepared, set or
/// listened to on it, and no name is looked up by its `search_path`.
///
/// **Threads**: confined to one thread.
/// **Lifetime**: the transaction outlives it.
class CallerTransaction {
public:
    explicit CallerTransaction(pqxx::dbtransaction& transaction) noexcept : transaction_{transaction} {}

    /// Makes sure that the transaction is open and runs exactly one statement in it.
    ///
    /// **Throws** `StoreError`: `closed_transaction` when it is not open; after any other error the transaction can
    /// only be rolled back, unless the caller had set a savepoint.
    Result run(const Statement& statement, const Params& params = {});

private:
    pqxx::dbtransaction& transaction_;
};

}  // namespace pawl::store::pg
