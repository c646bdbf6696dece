#pragma once

#include <cstdint>

namespace pawl::model {

/// Runs of one kind over the window of retry budgets.
struct RetryLoad {
    std::int64_t first_runs{};
    std::int64_t retries{};
};

}  // namespace pawl::model
