#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "store/pg/connection.hpp"
#include "store/pg/migrations.hpp"

namespace pawl::store::pg {

[[nodiscard]] std::span<const Migration> known_migrations() noexcept;

struct MigrateOptions {
    /// How long to wait for another process that migrates the same schema, and for locks that others hold on its
    /// tables.
    std::chrono::milliseconds lock_wait{std::chrono::seconds{30}};
    /// In ascending version.
    std::span<const Migration> migrations{known_migrations()};
};

/// Brings the schema to the newest version that this release knows, one transaction per step, and returns how many
/// steps that took. Any number of processes may do so at once; a schema that is up to date is only read.
///
/// The schema itself is created only if it is missing, so that a role may migrate one that was made for it.
///
/// **Throws** `ConfigError` for the schema's name; `StoreError` with code `schema_mismatch` for a schema of a newer
/// release; `store_unavailable`, naming the process that holds the lock, when the wait is over.
int migrate(Connection& connection, std::string_view schema, const MigrateOptions& options = {});

/// **Throws** `StoreError` with code `schema_mismatch`, saying what to do, for a schema that is missing, older or newer
/// than what this release works with.
void check_schema(Connection& connection, std::string_view schema,
                  std::span<const Migration> migrations = known_migrations());

}  // namespace pawl::store::pg
