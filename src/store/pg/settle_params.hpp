#pragma once

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// The parameters of the settle statement, whose legend stands beside it: a group of arrays for each thing that a run may leave.
[[nodiscard]] Params settle_params(Connection& connection, Names& names, const Settle& batch);

}  // namespace pawl::store::pg
