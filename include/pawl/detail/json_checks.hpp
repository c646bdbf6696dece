#pragma once

#include <cstddef>
#include <string_view>

#include <pawl/export.hpp>

// What <pawl/json.hpp> leaves to the compiled library.

namespace pawl::detail {

/// Where a value stands in a document: a chain up to the root, on the stack of whoever walks it.
struct JsonPlace {
    const JsonPlace* parent{};
    std::string_view key;
    /// Counts in arrays; for members of objects it says nothing.
    std::size_t index{};
    bool in_array{};
};

/// **Throws** `ConfigError` naming the place, for text that is not valid UTF-8 or holds a NUL.
PAWL_EXPORT void require_text(const JsonPlace& place, std::string_view text);

/// **Throws** `ConfigError` naming the place.
[[noreturn]] PAWL_EXPORT void refuse_value(const JsonPlace& place, std::string_view problem);

/// **Throws** `PayloadError` when a stored text is not JSON with one meaning; repeated keys have two.
PAWL_EXPORT void require_json(std::string_view text);

/// Throws a `PayloadError` naming the place where a number did not fit into what it was decoded to; returns when every
/// difference is one that the type makes on purpose.
PAWL_EXPORT void require_exact(std::string_view stored, std::string_view decoded);

/// **Throws** `PayloadError` for the number of arguments.
[[noreturn]] PAWL_EXPORT void refuse_arguments(std::size_t wanted, std::size_t stored);

/// Throws a `PayloadError` that names the argument; to be called in a catch block.
[[noreturn]] PAWL_EXPORT void refuse_argument(std::size_t index);

}  // namespace pawl::detail
