#include "store/pg/migrator.hpp"

#include <algorithm>
#include <string>

#include "store/pg/errors.hpp"

namespace pawl::store::pg {

namespace {

using Clock = std::chrono::steady_clock;

// Statements here run once and have no name. Everything is qualified: behind a pooler the search_path is not ours.

// $1 schema
constexpr const char* find_schema = R"sql(
select exists (select from pg_catalog.pg_namespace where nspname = $1),
       exists (select from pg_catalog.pg_class c
               join pg_catalog.pg_namespace n on n.oid = c.relnamespace
               where n.nspname = $1 and c.relname = 'schema_version')
)sql";

constexpr const char* read_version = R"sql(
select coalesce(max(version), 0)
from @schema@.schema_version
)sql";

// Steps take as long as they take; a lock they cannot have is given up early, because whoever asks for the table
// after us queues behind us.
// $1 lock_timeout (ms)
constexpr const char* set_bounds = R"sql(
select pg_catalog.set_config('lock_timeout', $1, true),
       pg_catalog.set_config('statement_timeout', '0', true),
       pg_catalog.set_config('idle_in_transaction_session_timeout', '0', true),
       pg_catalog.set_config('client_min_messages', 'error', true)
)sql";

// Of the transaction, not of the session: a pooler would keep the latter.
// $1 schema
constexpr const char* lock_schema = R"sql(
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('pawl.migrate'), pg_catalog.hashtext($1))
)sql";

// pg_locks shows the two halves of the key as oids.
// $1 schema
constexpr const char* find_holder = R"sql(
select l.pid
from pg_catalog.pg_locks l
join pg_catalog.pg_database d on d.oid = l.database
where l.locktype = 'advisory'
  and l.granted
  and d.datname = pg_catalog.current_database()
  and l.classid = (pg_catalog.hashtext('pawl.migrate')::bigint & 4294967295)::oid
  and l.objid = (pg_catalog.hashtext($1)::bigint & 4294967295)::oid
  and l.objsubid = 2
)sql";

constexpr const char* create_version_table = R"sql(
create table @schema@.schema_version (
    version integer not null primary key,
    name text not null,
    applied_at timestamptz not null default pg_catalog.clock_timestamp()
)
)sql";

// $1 version, $2 name
constexpr const char* record_step = R"sql(
insert into @schema@.schema_version (version, name)
values ($1, $2)
)sql";

constexpr std::string_view lock_not_available = "55P03";
constexpr std::string_view insufficient_privilege = "42501";

/// What the catalog knows of a schema.
struct Found {
    bool schema = false;
    int version = 0;  // zero without the table of versions, too
    bool versions = false;
};

Statement once(const char* sql, std::string_view schema) { return {{}, with_schema(sql, schema)}; }

/// Works on a Connection and on a Transaction.
template <class Runner>
Found look(Runner& runner, std::string_view schema) {
    const auto exists = runner.run(once(find_schema, schema), Params{}.add(schema));
    Found found{.schema = exists.boolean(0, 0), .version = 0, .versions = exists.boolean(0, 1)};
    if (found.versions) found.version = runner.run(once(read_version, schema)).int32(0, 0);
    return found;
}

int newest(std::span<const Migration> migrations) { return migrations.empty() ? 0 : migrations.back().version; }

[[noreturn]] void mismatch(std::string_view schema, const std::string& problem) {
    throw StoreError(ErrorCode::schema_mismatch, "the schema " + quote_identifier(schema) + ' ' + problem);
}

void refuse_newer(const Found& found, std::string_view schema, std::span<const Migration> migrations) {
    if (found.version <= newest(migrations)) return;
    mismatch(schema, "is at version " + std::to_string(found.version) + ", and this release knows versions up to " +
                         std::to_string(newest(migrations)) +
                         " only: deploy the newer release of pawl here too, or use another schema");
}

void create_schema(Transaction& transaction, std::string_view schema) {
    try {
        // `if not exists` for a schema that somebody else created since we looked.
        transaction.run(once("create schema if not exists @schema@", schema));
    } catch (const StoreError& error) {
        if (error.sqlstate() != insufficient_privilege) throw;
        throw StoreError(ErrorCode::store_rejected,
                         "the schema " + quote_identifier(schema) +
                             " does not exist, and this role may not create it: have an owner of the database run "
                             "`create schema " +
                             quote_identifier(schema) + " authorization <this role>`",
                         {.transient = false, .sqlstate = std::string{error.sqlstate()}});
    }
}

/// One transaction: takes the lock and does the next step, if there is one.
bool take_step(Connection& connection, std::string_view schema, std::chrono::milliseconds lock_wait,
               std::span<const Migration> migrations) {
    constexpr std::chrono::milliseconds longest_table_wait{2000};
    const auto bounds = [](std::chrono::milliseconds wait) { return Params{}.add(std::to_string(wait.count())); };

    Transaction transaction{connection};
    transaction.run({{}, set_bounds}, bounds(lock_wait));
    transaction.run({{}, lock_schema}, Params{}.add(schema));
    transaction.run({{}, set_bounds}, bounds(std::min(lock_wait, longest_table_wait)));

    // Under the lock, and in a later statement than it: what another process did meanwhile is seen.
    const auto found = look(transaction, schema);
    refuse_newer(found, schema, migrations);
    const auto next = std::ranges::find_if(migrations, [&](const auto& step) { return step.version > found.version; });
    if (next == migrations.end()) return false;

    if (!found.schema) create_schema(transaction, schema);
    if (!found.versions) transaction.run(once(create_version_table, schema));
    try {
        transaction.run_script(with_schema(next->sql, schema));
    } catch (const StoreError& error) {
        throw StoreError(error.code(),
                         "migration " + std::to_string(next->version) + " (" + std::string{next->name} + ") of " +
                             quote_identifier(schema) + ": " + error.what(),
                         {.transient = error.transient(), .sqlstate = std::string{error.sqlstate()}});
    }
    transaction.run(once(record_step, schema), Params{}.add(next->version).add(next->name));
    transaction.commit();
    return true;
}

[[noreturn]] void give_up(Connection& connection, std::string_view schema, const StoreError& error,
                          std::chrono::milliseconds waited) {
    const auto holders = connection.run({{}, find_holder}, Params{}.add(schema));
    auto message = "the schema " + quote_identifier(schema) + " could not be migrated within " +
                   std::to_string(waited.count()) + " ms: ";
    if (holders.empty()) {
        message += error.what();
        message += "; other sessions hold locks on its tables";
    } else {
        message += "the server process with pid " + std::to_string(holders.int32(0, 0)) +
                   " holds its lock; let it finish, or end it with pg_terminate_backend(" +
                   std::to_string(holders.int32(0, 0)) + ')';
    }
    throw StoreError(ErrorCode::store_unavailable, message,
                     {.transient = true, .sqlstate = std::string{error.sqlstate()}});
}

}  // namespace

std::span<const Migration> known_migrations() noexcept { return {embedded_migrations, embedded_migration_count}; }

int migrate(Connection& connection, std::string_view schema, const MigrateOptions& options) {
    validate_schema(schema);
    const auto migrations = options.migrations;
    const auto until = Clock::now() + options.lock_wait;

    // Without the lock first: most starts find nothing to do, and need no rights for it.
    const auto found = look(connection, schema);
    refuse_newer(found, schema, migrations);
    if (found.versions && found.version == newest(migrations)) return 0;

    for (int steps = 0;;) {
        // At least 1 ms: zero would mean to the server that there is no limit.
        const auto left =
            std::max(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()), std::chrono::milliseconds{1});
        try {
            if (!take_step(connection, schema, left, migrations)) return steps;
            ++steps;
        } catch (const StoreError& error) {
            // Live workers of the former version hold locks on the tables for moments, and may meet ours crosswise:
            // the step was rolled back and is taken again.
            const bool locked = error.sqlstate() == lock_not_available || conflict(error);
            if (!locked) throw;
            if (Clock::now() >= until) give_up(connection, schema, error, options.lock_wait);
        }
    }
}

void check_schema(Connection& connection, std::string_view schema, std::span<const Migration> migrations) {
    validate_schema(schema);
    const auto found = look(connection, schema);
    const std::string what_to_do = ": call pawl::migrate once, or set migrate_on_start";
    if (!found.schema) mismatch(schema, "does not exist" + what_to_do);
    if (!found.versions || found.version == 0) mismatch(schema, "holds no tables of pawl" + what_to_do);
    refuse_newer(found, schema, migrations);
    if (found.version < newest(migrations)) {
        mismatch(schema, "is at version " + std::to_string(found.version) + ", and this release works with version " +
                             std::to_string(newest(migrations)) + what_to_do);
    }
}

}  // namespace pawl::store::pg
