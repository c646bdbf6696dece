#pragma once

#include <cstddef>
#include <string_view>

#include <pawl/job.hpp>

#include "store/pg/result.hpp"

namespace pawl::store::pg {

/// `select` and the columns of a job as people see it, of a row source `f` that is a find_job().
extern const std::string_view job_info_columns;
inline constexpr int job_info_width = 18;

/// Reads the columns above, the first of which is number 0.
[[nodiscard]] JobInfo read_job_info(const Result& rows, std::size_t row);

}  // namespace pawl::store::pg
