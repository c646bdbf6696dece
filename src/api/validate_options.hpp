#pragma once

#include <pawl/options.hpp>

namespace pawl::api {

/// **Throws** `ConfigError` naming the first field that is out of its range.
void validate(const Options& options);

/// The same for the two of them, which `stop` takes as well.
void validate_graces(Duration grace, Duration hard_grace);

}  // namespace pawl::api
