#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl::failure {

/// Text as every column, log and page can take it: valid UTF-8, with each wrong sequence replaced by U+FFFD, and without
/// control characters (NUL, C0 but for newline and tab, DEL, C1). Reads at most the first `limit` bytes.
///
/// **Source**: Unicode 15, 3.9, "substitution of maximal subparts".
[[nodiscard]] std::string repair_utf8(std::string_view text, std::size_t limit = std::string_view::npos);

/// The text itself if it has at most `bytes`; otherwise as much of it as fits, whole characters only, and a mark: "…".
/// The text is valid UTF-8.
[[nodiscard]] std::string cut(std::string text, std::size_t bytes);

}  // namespace pawl::failure
