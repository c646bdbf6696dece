#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pawl/detail/json_checks.hpp>

namespace pawl::model {

/// What is wrong with a JSON text, and where.
struct JsonProblem {
    /// As in `.items[2].name`; empty for the text as a whole.
    std::string path;
    std::string what;
};

/// The first reason why a text cannot be stored as it is and come back with the same meaning; none when there is none.
///
/// It must be one JSON value in valid UTF-8, without NUL (PostgreSQL cannot store it), lone surrogates, keys that occur
/// twice in an object, numbers beyond those of a double, and with at most 512 levels.
///
/// **Source**: RFC 8259, and what jsonb takes.
[[nodiscard]] std::optional<JsonProblem> check_json(std::string_view text);

/// The path of a place, in the same notation.
[[nodiscard]] std::string path_of(const detail::JsonPlace& place);

/// Whether `decoded`, which is `stored` after it was decoded and encoded again, shows that a number did not fit into what
/// it was decoded to. A number that a type changes on purpose (a default, a bound) is not taken for that.
[[nodiscard]] std::optional<JsonProblem> find_narrowed(std::string_view stored, std::string_view decoded);

}  // namespace pawl::model
