#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// PostgreSQL's text form of arrays of one dimension: `{1,2}`, `{"a","b",NULL}`.

namespace pawl::store::pg {

[[nodiscard]] std::string array_text(std::span<const std::int64_t> values);
[[nodiscard]] std::string array_text(std::span<const std::int32_t> values);
[[nodiscard]] std::string array_text(std::span<const std::int16_t> values);
[[nodiscard]] std::string array_text(std::span<const std::optional<std::int64_t>> values);
[[nodiscard]] std::string array_text(std::span<const std::string> values);
[[nodiscard]] std::string array_text(std::span<const std::string_view> values);
[[nodiscard]] std::string array_text(std::span<const std::optional<std::string>> values);
[[nodiscard]] std::string array_text(const std::vector<bool>& values);

/// None for text that is not an array of one dimension, or has nulls.
[[nodiscard]] std::optional<std::vector<std::int64_t>> parse_int64_array(std::string_view text);
/// None for text that is not an array of one dimension.
[[nodiscard]] std::optional<std::vector<std::optional<std::string>>> parse_text_array(std::string_view text);

}  // namespace pawl::store::pg
