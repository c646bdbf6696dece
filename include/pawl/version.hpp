#pragma once

#include <string_view>

#include <pawl/export.hpp>

/// The version of these headers, for `#if`.
#define PAWL_VERSION_MAJOR 0
#define PAWL_VERSION_MINOR 1
#define PAWL_VERSION_PATCH 0

namespace pawl {

/// The version of the library that was linked, as "major.minor.patch". It differs from the macros when the headers
/// and a shared library come from two releases.
///
/// **Threads** safe from any thread.
[[nodiscard]] PAWL_EXPORT std::string_view version() noexcept;

}  // namespace pawl
