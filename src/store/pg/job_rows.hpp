#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/claimed_job.hpp"
#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"

namespace pawl::store::pg {

/// What every verb that hands out jobs selects: of a row source `item` with (token, position, id, head, queue, kind, priority,
/// attempts, crashes, losses, run_at), left joined to the job table as `job`. Only a head carries what the rows after it
/// have in common with it. Uses job_pkey and attempt_id. The join is
/// lateral with `offset 0`, so that it is a look-up per row: planned while the table was small, a merge join would later
/// read all of it.
///
/// A job row that somebody deleted by hand leaves the columns of that table null.
extern const std::string_view job_columns;

/// Reads the columns above, the first of which is number `first`, claimed for `node`. Rows without an id are left out.
[[nodiscard]] std::vector<std::shared_ptr<const model::ClaimedJob>> read_jobs(const Result& rows, int first,
                                                                              model::NodeId node, Names& names,
                                                                              Connection& connection);

}  // namespace pawl::store::pg
