#pragma once

#include <cstddef>
#include <string_view>

namespace pawl::base {

/// How many bytes the character at the start of a text has: 1 to 4, or 0 when they are not valid UTF-8 (overlong,
/// surrogates, above U+10FFFF and cut off ones included) or the text is empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

/// Where the first byte stands that is not part of valid UTF-8; `npos` when all of it is.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view text) noexcept;

/// Where the first control character stands (U+0000 to U+001F, U+007F to U+009F) in valid UTF-8, or `npos`.
[[nodiscard]] std::size_t find_control(std::string_view text) noexcept;

}  // namespace pawl::base
