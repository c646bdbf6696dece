#pragma once

#include <string>
#include <string_view>

#include <pawl/export.hpp>

namespace pawl {

/// Creates the schema, or brings it up to the version of this release; does nothing when it is. For deploys; a scheduler
/// does the same with `Options::migrate_on_start`.
///
/// Any number of processes may call it at the same time: one works, the others wait for a bounded time. Schedulers of the
/// release before may run meanwhile.
///
/// **Throws** `ConfigError`; `StoreError`, with code `schema_mismatch` for a schema that is newer than this release.
/// **Threads**: safe from any thread.
PAWL_EXPORT void migrate(const std::string& connection, std::string_view schema = "pawl");

}  // namespace pawl
