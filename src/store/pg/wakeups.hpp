#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/store.hpp"

namespace pawl::store::pg {

/// Listens to the schema's channel. The notifications are small and fixed: `ready <queue id>` or `scheduled`.
[[nodiscard]] std::unique_ptr<WakeupListener> listen_for_wakeups(const std::string& conninfo, std::string_view schema);

}  // namespace pawl::store::pg
