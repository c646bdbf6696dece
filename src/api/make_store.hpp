#pragma once

#include <memory>

#include <pawl/options.hpp>

#include "store/store.hpp"

namespace pawl::api {

/// The one place that says that jobs are kept in PostgreSQL. Does not connect.
[[nodiscard]] std::unique_ptr<store::Store> make_store(const Options& options);

}  // namespace pawl::api
