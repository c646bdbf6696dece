#include "store/pg/connection.hpp"

#include <algorithm>
#include <utility>

#include <poll.h>

#include "store/pg/compat.hpp"
#include "store/pg/errors.hpp"
#include "store/pg/session.hpp"

namespace pawl::store::pg {

namespace {

// One round trip for all. Each setting is one that a database, a role or the server's configuration may have set to
// something that our statements do not expect.
// $1 statement_timeout, $2 lock_timeout, $3 idle_in_transaction_session_timeout (ms), $4 fixed plans, $5 for this transaction only
constexpr const char* apply_settings = R"sql(
select set_config('statement_timeout', $1, $5::boolean),
       set_config('lock_timeout', $2, $5),
       set_config('idle_in_transaction_session_timeout', $3, $5),
       set_config('default_transaction_isolation', 'read committed', $5),
       set_config('standard_conforming_strings', 'on', $5),
       set_config('bytea_output', 'hex', $5),
       set_config('jit', 'off', $5),
       set_config('client_min_messages', 'error', $5),
       set_config('search_path', 'pg_catalog, pg_temp', $5),
       case when $4::boolean then set_config('plan_cache_mode', 'force_generic_plan', $5) end,
       case when $4::boolean then set_config('enable_seqscan', 'off', $5) end
)sql";

constexpr const char* look_at_server = R"sql(
select pg_catalog.pg_is_in_recovery() or pg_catalog.current_setting('transaction_read_only') = 'on',
       pg_catalog.pg_backend_pid(),
       pg_catalog.current_setting('server_version_num')
)sql";

/// Ours are UTF-8. The server would read each byte of them as a character of its own, and store that without a word.
void require_utf8(pqxx::transaction_base& transaction, const Params& params) {
    const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    for (const auto& value : params.values()) {
        if (!value || std::ranges::all_of(*value, ascii)) continue;
        const std::string encoding = compat::client_encoding(transaction);
        if (encoding == "UTF8" || encoding == "SQL_ASCII") return;
        throw StoreError(ErrorCode::store_rejected, "the client_encoding of the connection given is " + encoding +
                                                        "; text beyond ASCII needs UTF8");
    }
}

Params settings(const SessionOptions& options, bool for_transaction) {
    Params settings;
    settings.add(std::to_string(options.statement_timeout.count()))
        .add(std::to_string(options.lock_timeout.count()))
        .add(std::to_string(options.idle_in_transaction_timeout.count()))
        .add(options.fixed_plans)
        .add(for_transaction);
    return settings;
}

std::string name_of(const Statement& statement) {
    return statement.name.empty() ? std::string{"statement"} : statement.name;
}

}  // namespace

pqxx::result Connection::Session::run(pqxx::transaction_base& transaction, const Statement& statement,
                                      const Params& params, bool by_name, bool& sent) {
    if (!by_name || statement.name.empty()) {
        sent = true;
        return compat::run(transaction, statement.sql, params.values());
    }
    if (!prepared.contains(statement.name)) {
        compat::prepare(*handle, statement.name, statement.sql);
        prepared.insert(statement.name);
    }
    sent = true;
    return compat::run_prepared(transaction, statement.name, params.values());
}

Connection::Connection(std::string_view conninfo, SessionOptions options)
    : conninfo_(conninfo, options.application_name), options_(std::move(options)) {}

Connection::~Connection() = default;

void Connection::open() {
    if (is_open()) return;
    session_.reset();
    try {
        auto session = std::make_unique<Session>();
        session->handle = compat::connect(conninfo_.text());
        pqxx::nontransaction work{*session->handle};
        const Result server{compat::run(work, look_at_server, {})};
        session->backend_pid = server.int32(0, 1);
        session->server_version = server.int32(0, 2);
        if (server.boolean(0, 0)) {
            throw StoreError(ErrorCode::store_unavailable,
                             "the server only reads (a standby, or default_transaction_read_only is on); name the "
                             "primary, or several hosts with target_session_attrs=read-write",
                             {.transient = true, .sqlstate = "25006"});
        }
        if (options_.prepare) compat::run(work, apply_settings, settings(options_, false).values());
        session_ = std::move(session);
    } catch (...) {
        const auto error = classify(Sent::no, "cannot connect to the database");
        // libpq's texts name host, port, user and database; the password is masked all the same.
        throw StoreError(error.code(), conninfo_.masked(std::string{error.what()} + " (" + conninfo_.redacted() + ')'),
                         {.transient = error.transient(), .sqlstate = std::string{error.sqlstate()}});
    }
}

void Connection::close() noexcept { session_.reset(); }

bool Connection::is_open() const noexcept { return session_ && !session_->ended && session_->handle->is_open(); }

bool Connection::stale() const noexcept {
    if (!is_open()) return true;
    pollfd socket{.fd = session_->handle->sock(), .events = POLLIN, .revents = 0};
    return ::poll(&socket, 1, 0) != 0;
}

int Connection::backend_pid() const { return session().backend_pid; }
int Connection::socket() const { return session().handle->sock(); }
int Connection::server_version() const { return session().server_version; }

Connection::Session& Connection::session() const {
    if (!is_open()) {
        throw StoreError(ErrorCode::store_unavailable, "the connection to the database is closed",
                         {.transient = true, .sqlstate = {}});
    }
    return *session_;
}

Result Connection::run(const Statement& statement, const Params& params) {
    return repeat_on_conflict([&] { return run_once(statement, params); });
}

Result Connection::run_once(const Statement& statement, const Params& params) {
    auto& open_session = session();
    bool sent = false;
    try {
        if (options_.prepare) {
            pqxx::nontransaction work{*open_session.handle};
            return Result{open_session.run(work, statement, params, true, sent)};
        }
        // Behind a pooler nothing holds beyond a transaction.
        pqxx::work work{*open_session.handle};
        compat::run(work, apply_settings, settings(options_, true).values());
        Result result{open_session.run(work, statement, params, false, sent)};
        work.commit();
        return result;
    } catch (...) {
        throw failed(sent, name_of(statement));
    }
}

StoreError Connection::failed(bool sent, std::string_view doing) {
    auto error = classify(sent ? Sent::maybe : Sent::no, doing);
    if (!is_open() || session_ended(error)) close();
    return error;
}

struct Transaction::Impl {
    explicit Impl(Connection& over) : connection(over), work(*over.session().handle) {}

    void require_usable() const {
        if (finished) throw StoreError(ErrorCode::closed_transaction, "the transaction is already over");
        if (broken) {
            throw StoreError(ErrorCode::closed_transaction,
                             "an earlier statement of the transaction failed; it can only be rolled back");
        }
    }

    /// The session stays for as long as the transaction object points to it, but counts as closed.
    [[nodiscard]] StoreError failed(Sent sent, std::string_view doing) {
        broken = true;
        auto error = classify(sent, doing);
        if (session_ended(error)) connection.session_->ended = true;
        return error;
    }

    Connection& connection;
    pqxx::work work;
    bool broken = false;
    bool finished = false;
};

Transaction::Transaction(Connection& connection) {
    try {
        impl_ = std::make_unique<Impl>(connection);
        // 6.4 announces the transaction only; begun here, a connection that is gone shows before any work.
        compat::require_open(impl_->work);
    } catch (...) {
        impl_.reset();
        throw connection.failed(false, "begin");
    }
}

Transaction::~Transaction() = default;

Result Transaction::run(const Statement& statement, const Params& params) {
    impl_->require_usable();
    bool sent = false;
    try {
        auto& connection = impl_->connection;
        return Result{connection.session().run(impl_->work, statement, params, connection.options_.prepare, sent)};
    } catch (...) {
        // Without a commit the server rolls back, whatever it received.
        throw impl_->failed(Sent::no, name_of(statement));
    }
}

void Transaction::run_script(std::string_view sql) {
    impl_->require_usable();
    try {
        impl_->work.exec(std::string{sql});
    } catch (...) {
        throw impl_->failed(Sent::no, "script");
    }
}

void Transaction::commit() {
    impl_->require_usable();
    impl_->finished = true;
    try {
        impl_->work.commit();
    } catch (...) {
        throw impl_->failed(Sent::maybe, "commit");
    }
}

Result CallerTransaction::run(const Statement& statement, const Params& params) {
    try {
        compat::require_open(transaction_);
    } catch (...) {
        const auto error = classify(Sent::no, name_of(statement));
        throw StoreError(ErrorCode::closed_transaction,
                         std::string{"the transaction given is not open (committed, rolled back, or ended by an "
                                     "earlier error): "} +
                             error.what(),
                         {.transient = error.transient(), .sqlstate = std::string{error.sqlstate()}});
    }
    require_utf8(transaction_, params);
    try {
        return Result{compat::run(transaction_, statement.sql, params.values())};
    } catch (...) {
        throw classify(Sent::no, name_of(statement));
    }
}

}  // namespace pawl::store::pg
