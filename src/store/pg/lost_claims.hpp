#pragma once

#include <vector>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Reads rows of (node that lost it, alone, begun, job_columns…), beginning with the first of these and ordered by token; `node`
/// has them now.
[[nodiscard]] std::vector<LostClaim> read_lost_claims(const Result& rows, int first, NodeId node, Names& names,
                                                      Connection& connection);

}  // namespace pawl::store::pg
