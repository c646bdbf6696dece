#pragma once

#include <string>
#include <typeinfo>

namespace pawl::failure {

/// A type as it is written in C++. What `std::throw_with_nested` makes of an E is named E.
[[nodiscard]] std::string type_name(const std::type_info& type);

}  // namespace pawl::failure
