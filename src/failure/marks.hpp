#pragma once

#include <optional>
#include <string>
#include <typeinfo>

namespace pawl::failure {

/// The text of the DoNotRetry mark on exactly this type, if there is one. It is a copy, because the library that holds
/// the text may be unloaded.
///
/// **Threads**: safe from any thread.
[[nodiscard]] std::optional<std::string> mark_on(const std::type_info& type);

}  // namespace pawl::failure
