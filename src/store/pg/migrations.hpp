#pragma once

#include <cstddef>
#include <string_view>

namespace pawl::store::pg {

/// One step of the schema, from src/store/migrations/NNNN_name.sql.
struct Migration {
    int version;            // NNNN
    std::string_view name;  // the file's name without its number and suffix
    std::string_view sql;   // the file as it stands
};

/// All steps in ascending version; the build generates them from the listed files.
extern const Migration embedded_migrations[];
extern const std::size_t embedded_migration_count;

}  // namespace pawl::store::pg
