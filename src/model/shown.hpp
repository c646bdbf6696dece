#pragma once

#include <string>
#include <string_view>

namespace pawl::model {

/// A name of the user's, fit for an error text: at most 64 bytes, and what is not printable UTF-8 as `\xNN`.
[[nodiscard]] std::string shown(std::string_view name);

}  // namespace pawl::model
