#pragma once

#include <memory>
#include <string>

#include "store/store.hpp"

namespace pawl::store::pg {

struct StoreOptions {
    std::string connection;
    std::string schema;
    /// As SessionOptions.
    bool prepare{true};
};

/// The store on PostgreSQL. Does not connect.
///
/// **Throws** `ConfigError` naming `connection` or `schema`.
[[nodiscard]] std::unique_ptr<Store> make_store(const StoreOptions& options);

}  // namespace pawl::store::pg
